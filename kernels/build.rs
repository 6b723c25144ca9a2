//! Compiles the kernels if the feature `cuda` is on.
//!
//! - every `.cu` below `kernels/` but `cub.cu` becomes a fatbin, which
//!   src/gpu/runtime/cuda_device.rs embeds and loads with the driver;
//! - `cub.cu` calls the CUDA runtime and becomes a static library;
//! - the numbers of `tuning.h` become Rust constants;
//! - each `struct SHARED` becomes a Rust struct, so that its layout is written once.
//!
//! nvcc is searched in `CUDA_HOME`, on the `PATH`, in `target/nvcc` (see
//! `kernels/install-nvcc.sh`), and in the packages of python3. `BWZ_CUDA_ARCHS` (such as `90` or
//! `80,90`) limits the architectures of the machine code.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, thread};

/// Compute capabilities for which machine code is made. PTX is made for the oldest one, and newer
/// drivers compile it for newer GPUs.
const ARCHS: [u32; 5] = [80, 86, 89, 90, 120];

fn main() {
    // The folder as a whole is watched, since a file may be new.
    println!("cargo::rerun-if-changed=kernels");
    for name in ["BWZ_CUDA_ARCHS", "CUDA_HOME", "PATH"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    if env::var_os("CARGO_FEATURE_CUDA").is_none() {
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let toolkit = Toolkit::find().unwrap_or_else(|| fail(NO_NVCC));
    let archs = toolkit.archs();
    let sources = sources();
    thread::scope(|scope| {
        scope.spawn(|| toolkit.library(Path::new("kernels/primitives/cub.cu"), &out, &archs));
        scope.spawn(|| {
            sources
                .iter()
                .for_each(|source| toolkit.fatbin(source, &out, &archs))
        });
    });
    write(&out.join("fatbins.rs"), &fatbins(&sources));
    write(
        &out.join("tuning.rs"),
        &constants(&read("kernels/runtime/tuning.h")),
    );
    write(&out.join("kernel_structs.rs"), &structs());
    write(&out.join("built.rs"), &built(&toolkit, &archs));
    toolkit.link(&out);
}

const NO_NVCC: &str = "the feature `cuda` needs nvcc, the CUDA compiler, which was not found in CUDA_HOME, on the PATH, \
    among python3's packages or in target/nvcc. Run kernels/install-nvcc.sh (it puts it into target/nvcc), or install \
    a CUDA toolkit of version 12.4 or newer and set CUDA_HOME.";

fn fail(what: &str) -> ! {
    println!("cargo::error={what}");
    std::process::exit(1);
}

/// A CUDA compiler with its headers and libraries, below one folder.
struct Toolkit {
    home: PathBuf,
}

impl Toolkit {
    fn find() -> Option<Toolkit> {
        let named = env::var_os("CUDA_HOME").map(PathBuf::from);
        let on_path = env::split_paths(&env::var_os("PATH").unwrap_or_default())
            .find(|dir| dir.join("nvcc").is_file())
            .and_then(|dir| dir.join("nvcc").canonicalize().ok())
            .and_then(|nvcc| Some(nvcc.parent()?.parent()?.to_owned()));
        let here = env::current_dir()
            .ok()
            .map(|dir| dir.join("target/nvcc/nvidia/cu13"));
        [named, on_path, here]
            .into_iter()
            .flatten()
            .chain(
                python_packages()
                    .into_iter()
                    .map(|dir| dir.join("nvidia/cu13")),
            )
            .find(|home| home.join("bin/nvcc").is_file())
            .map(|home| Toolkit { home })
    }

    fn nvcc(&self) -> Command {
        let mut nvcc = Command::new(self.home.join("bin/nvcc"));
        // The wheels keep these headers elsewhere than the toolkit does.
        nvcc.args(["-std=c++17", "-O3", "--Werror", "all-warnings", "-I"]);
        nvcc.arg(self.home.join("include/cccl"))
            .args(["-I", "kernels"]);
        nvcc
    }

    /// The requested architectures, or those of [`ARCHS`] that this nvcc knows.
    fn archs(&self) -> Vec<u32> {
        if let Ok(text) = env::var("BWZ_CUDA_ARCHS") {
            let archs: Option<Vec<u32>> = text
                .split(',')
                .map(|a| a.trim().parse().ok())
                .collect();
            return archs.unwrap_or_else(|| fail("BWZ_CUDA_ARCHS is not a list such as 80,90"));
        }
        let known = run(self.nvcc().arg("--list-gpu-arch"));
        ARCHS
            .into_iter()
            .filter(|arch| known.contains(&format!("compute_{arch}")))
            .collect()
    }

    fn fatbin(&self, source: &Path, out: &Path, archs: &[u32]) {
        let target = out
            .join(source.file_stem().expect("a file"))
            .with_extension("fatbin");
        run(self
            .nvcc()
            .arg("--fatbin")
            .args(code_for(archs))
            .arg("-o")
            .arg(target)
            .arg(source));
    }

    fn library(&self, source: &Path, out: &Path, archs: &[u32]) {
        let name = source
            .file_stem()
            .expect("a file")
            .to_string_lossy();
        let target = out.join(format!("libbwz_{name}.a"));
        run(self
            .nvcc()
            .args(["--lib", "-Xcompiler", "-fPIC"])
            .args(code_for(archs))
            .arg("-o")
            .arg(target)
            .arg(source));
    }

    fn link(&self, out: &Path) {
        println!("cargo::rustc-link-search=native={}", out.display());
        println!("cargo::rustc-link-lib=static=bwz_cub");
        for dir in ["lib", "lib64", "targets/x86_64-linux/lib"] {
            let dir = self.home.join(dir);
            if dir.join("libcudart_static.a").is_file() {
                println!("cargo::rustc-link-search=native={}", dir.display());
            }
        }
        println!("cargo::rustc-link-lib=static=cudart_static");
        for library in ["stdc++", "rt", "dl", "pthread"] {
            println!("cargo::rustc-link-lib=dylib={library}");
        }
    }
}

/// Package folders of the python3 on the path.
fn python_packages() -> Vec<PathBuf> {
    let ask = "import site, sysconfig; print(sysconfig.get_path('purelib'), site.getusersitepackages(), sep='\\n')";
    let said = Command::new("python3").args(["-c", ask]).output();
    let text = said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned());
    text.unwrap_or_default()
        .lines()
        .map(PathBuf::from)
        .collect()
}

fn code_for(archs: &[u32]) -> Vec<String> {
    let real = archs
        .iter()
        .map(|arch| format!("-gencode=arch=compute_{arch},code=sm_{arch}"));
    let oldest = archs
        .iter()
        .min()
        .map(|arch| format!("-gencode=arch=compute_{arch},code=compute_{arch}"));
    real.chain(oldest).collect()
}

/// Runs a command and returns its output. If it fails, the build ends with that output.
fn run(command: &mut Command) -> String {
    let done = command
        .output()
        .unwrap_or_else(|e| fail(&format!("{command:?}: {e}")));
    let said = [done.stdout, done.stderr]
        .map(|said| String::from_utf8_lossy(&said).into_owned())
        .concat();
    if !done.status.success() {
        eprintln!("{command:?}\n{said}");
        fail(&format!(
            "nvcc failed: {}",
            said.lines()
                .find(|l| l.contains("error"))
                .unwrap_or("no message")
        ));
    }
    said
}

/// Lists the files below a folder that have one of the given endings, in order.
fn files(dir: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap_or_else(|e| fail(&format!("{}: {e}", dir.display())));
    let mut found = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            found.extend(files(&path, endings));
        } else if endings
            .iter()
            .any(|ending| path.extension().is_some_and(|e| e == *ending))
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Lists the kernel files, except that of the static library.
fn sources() -> Vec<PathBuf> {
    let sources = files(Path::new("kernels"), &["cu"]);
    sources
        .into_iter()
        .filter(|path| !path.ends_with("cub.cu"))
        .collect()
}

/// Makes one constant with the compiled code of each kernel file.
fn fatbins(sources: &[PathBuf]) -> String {
    let names: Vec<_> = sources
        .iter()
        .map(|s| s.file_stem().expect("a file").to_string_lossy())
        .collect();
    let files = names.iter().map(|name| {
        format!(
            "    (\"{name}\", include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.fatbin\"))),\n"
        )
    });
    format!("&[\n{}]\n", files.collect::<String>())
}

/// Makes a constant of each `#define NAME 5`. The comment line above it becomes its doc.
fn constants(header: &str) -> String {
    let mut code = String::new();
    let mut above = "";
    for line in header.lines() {
        if let Some((name, value)) = line
            .strip_prefix("#define ")
            .and_then(|d| d.split_once(' '))
        {
            let _ = writeln!(
                code,
                "/// {}\npub(crate) const {name}: u32 = {value};",
                above.trim_start_matches("// ")
            );
        }
        above = line;
    }
    code
}

/// Makes a Rust struct of each `struct SHARED` of the kernels, with the same fields in the same
/// order.
fn structs() -> String {
    let mut code = String::new();
    for path in files(Path::new("kernels"), &["cu", "cuh"]) {
        let text = read(&path.to_string_lossy());
        for body in text.split("struct SHARED ").skip(1) {
            let (name, body) = body
                .split_once(" {\n")
                .expect("a struct has a body");
            let (body, _) = body
                .split_once("\n};")
                .expect("a struct has an end");
            let fields: String = body.lines().map(fields).collect();
            // An array may be too long for `Default`.
            let default = if fields.contains(": [") {
                ""
            } else {
                "Default, "
            };
            let _ = writeln!(
                code,
                "/// `struct {name}` of {}.\n#[repr(C)]\n#[derive({default}Clone, Copy, Debug)]\n\
                 pub(crate) struct {name} {{\n{fields}}}\nshared!({name});\n",
                path.display()
            );
        }
    }
    code
}

/// Makes the fields of a line of a struct, such as `const uint32_t* a;  // what it is` or `uint32_t
/// b, c;`.
fn fields(line: &str) -> String {
    let (declaration, comment) = line.split_once("//").unwrap_or((line, ""));
    let declaration = declaration.trim_end();
    // Functions and their bodies are not fields.
    if declaration.is_empty() || line.starts_with("     ") || declaration.ends_with(['{', '}']) {
        return String::new();
    }
    let Some(declaration) = declaration.trim_start().strip_suffix(';') else {
        fail(&format!(
            "a field of a shared struct takes one line, unlike: {line}"
        ))
    };
    let declaration = declaration.trim_start_matches("const ");
    let (kind, names) = declaration
        .split_once(' ')
        .expect("a type and names");
    let kind = match kind {
        pointer if pointer.ends_with('*') => "u64",
        "uint8_t" => "u8",
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        "int" => "i32",
        other => other,
    };
    let field = |name: &str| match name.split_once('[') {
        Some((name, len)) => format!("    pub(crate) {name}: [{kind}; {len},\n"),
        None => format!("    pub(crate) {name}: {kind},\n"),
    };
    // Brackets are indices there, but would be links in a doc comment.
    let comment = comment.replace('[', "\\[").replace(']', "\\]");
    let doc = if comment.is_empty() {
        String::new()
    } else {
        format!("    ///{comment}\n")
    };
    doc + &names.split(", ").map(field).collect::<String>()
}

/// Makes the text that `bwz --version` prints about the kernels.
fn built(toolkit: &Toolkit, archs: &[u32]) -> String {
    let said = run(toolkit.nvcc().arg("--version"));
    let version = said
        .split("release ")
        .nth(1)
        .and_then(|v| v.split(',').next())
        .unwrap_or("?");
    format!("&Built {{ cuda: \"{version}\", archs: &{archs:?} }}\n")
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| fail(&format!("{path}: {e}")))
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|e| fail(&format!("{}: {e}", path.display())));
}
