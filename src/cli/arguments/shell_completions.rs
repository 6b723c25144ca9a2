//! `bwz completions`: the scripts of clap_complete, in which names of files come before commands.
//!
//! In bash, zsh and fish a word that is no option is completed with names of files, and the first
//! word with the commands too. After `-d`, `-t` and `-l`, and after the commands that read
//! compressed files alone, these are directories and files with a suffix that `-d` takes off. The
//! scripts of other shells are those of clap_complete.
//!
//! The changes are a function for each shell, added at the end, and replaced lines that call it.
//! The unit test notices if a new clap_complete writes other lines.

use crate::cli::arguments::args::Cli;
use clap::{ArgAction, Command, CommandFactory, ValueHint, value_parser};
use clap_complete::Shell;

/// The commands that read compressed files alone.
const COMPRESSED: [&str; 7] = [
    "cat", "head", "tail", "count", "locate", "extract", "recover",
];

/// Returns the completion script of a shell.
pub(crate) fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut hinted(Cli::command()), "bwz", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => bash(&script),
        Shell::Zsh => zsh(&script),
        Shell::Fish => fish(&script),
        _ => script,
    }
}

/// Tells the shells which values of options are names of files, and which are of directories. An
/// option whose value comes behind `=`, as in `--index=bytes`, is shown as one without a value:
/// clap_complete takes the next word for it.
fn hinted(command: Command) -> Command {
    let args = command.mut_args(|arg| {
        if arg.is_require_equals_set() {
            return arg
                .action(ArgAction::SetTrue)
                .num_args(0)
                .require_equals(false)
                .default_value(None::<&str>)
                .default_missing_value(None::<&str>)
                .value_parser(value_parser!(bool));
        }
        if arg.is_positional() || !arg.get_action().takes_values() {
            return arg;
        }
        let is_directory = arg
            .get_value_names()
            .is_some_and(|names| names == ["DIR"]);
        let hint = match arg.get_value_hint() {
            ValueHint::AnyPath if is_directory => ValueHint::DirPath,
            ValueHint::AnyPath => ValueHint::FilePath,
            _ if arg.get_possible_values().is_empty() => ValueHint::Other,
            hint => hint,
        };
        arg.value_hint(hint)
    });
    args.mut_subcommands(hinted)
}

/// Puts the names of the commands into a function, with `between` between them.
fn with_names(function: &str, between: &str) -> String {
    let cli = Cli::command();
    let others: Vec<_> = cli
        .get_subcommands()
        .map(Command::get_name)
        .filter(|name| !COMPRESSED.contains(name))
        .collect();
    function
        .replace("@COMPRESSED@", &COMPRESSED.join(between))
        .replace("@OTHERS@", &others.join(between))
}

fn bash(script: &str) -> String {
    let words = "COMPREPLY=( $(compgen -W \"${opts}\" -- \"${cur}\") )";
    let function = "_bwz_words \"${cmd#bwz__subcmd__}\" \"${cur}\" \"${opts}\"";
    let script = script
        .replace(" || ${COMP_CWORD} -eq 1 ]]", " ]]")
        .replace(" || ${COMP_CWORD} -eq 2 ]]", " ]]")
        .replace(
            &format!("esac\n            {words}"),
            &format!("esac\n            {function}"),
        );
    script + &with_names(BASH, " | ")
}

const BASH: &str = r#"
# Completes a word "$2" that is no option, for the command "$1": with the names of files, then with
# the commands, or with other words of "$3".
_bwz_words() {
    local name word cur="$2" files=all
    case "$1" in
        bwz)
            for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                case "${word}" in
                    --decompress | --uncompress | --test | --list) files=compressed ;;
                    --compress) files=all ;;
                    --*) ;;
                    -*)
                        # The letters before one that takes a value.
                        case "${word%%[oSTM]*}" in
                            *[dtl]*) files=compressed ;;
                            *z*) files=all ;;
                        esac
                        ;;
                esac
            done
            ;;
        @COMPRESSED@) files=compressed ;;
        completions | devices | help | man) files= ;;
    esac
    COMPREPLY=()
    if [[ -n "${files}" ]]; then
        compopt -o filenames 2>/dev/null
        cur="${cur#[\"\']}"
        while IFS= read -r name; do
            if [[ "${files}" == all || "${name}" == *.bwz || "${name}" == *.tbwz ||
                -d "${name/#~\//${HOME}/}" ]]; then
                COMPREPLY+=("${name}")
            fi
        done < <(compgen -f -- "${cur//\\/}" | sort)
    fi
    if [[ "${files}" == compressed ]]; then
        compopt +o bashdefault +o default 2>/dev/null
    fi
    if [[ -z "${files}" || ${COMP_CWORD} -eq 1 ]]; then
        for word in $3; do
            if [[ "${word}" == "$2"* && "${word}" != -* ]]; then
                COMPREPLY+=("${word}")
            fi
        done
    fi
}
"#;

fn zsh(script: &str) -> String {
    let positionals = with_names(ZSH_POSITIONALS, "|");
    let mut changed = String::new();
    for line in script.lines() {
        let is_positional = line.starts_with("'*::") || line.starts_with("':file ");
        let line = match line {
            "    _arguments \"${_arguments_options[@]}\" : \\" => format!("{positionals}{line}"),
            // clap_complete takes the command for the word behind the files.
            "\":: :_bwz_commands\" \\" => continue,
            "\"*::: :->bwz\" \\" => "\"${positionals[@]}\" \\".into(),
            _ if line.starts_with("'::files ") => continue,
            _ if is_positional => line
                .replace(":_files' \\", ":_bwz_files' \\")
                .replace(":_default' \\", ":_bwz_files' \\"),
            _ => line.replace("$line[2]", "$line[1]"),
        };
        changed += &line;
        changed.push('\n');
    }
    // The last lines call the completion.
    let end = "\nif [ \"$funcstack[1]\" = \"_bwz\" ]; then";
    changed.replace(end, &(with_names(ZSH, "|") + end))
}

const ZSH_POSITIONALS: &str = r#"    local -a positionals
    if (( CURRENT > 2 )) && [[ $words[2] == (@COMPRESSED@|@OTHERS@) ]]; then
        positionals=(": :_bwz_commands" "*::: :->bwz")
    elif (( CURRENT == 2 )); then
        positionals=(": :_bwz_first")
    else
        positionals=("*: :_bwz_files")
    fi
"#;

const ZSH: &str = r#"
_bwz_first() {
    _alternative 'files:file:_bwz_files' 'commands:command:_bwz_commands'
}
# The names of files, after -d, -t, -l and some commands only those of compressed files.
_bwz_files() {
    local word
    local -a only
    case $curcontext in
        (*:bwz-command-(@COMPRESSED@):*)
            only=(-g '*.(bwz|tbwz)')
            ;;
        (*:bwz-command-*)
            ;;
        (*)
            for word in "${(@)words[2,CURRENT-1]}"; do
                case $word in
                    (--decompress|--uncompress|--test|--list) only=(-g '*.(bwz|tbwz)') ;;
                    (--compress) only=() ;;
                    (--*) ;;
                    (-*)
                        # The letters before one that takes a value.
                        case ${word%%[oSTM]*} in
                            (*[dtl]*) only=(-g '*.(bwz|tbwz)') ;;
                            (*z*) only=() ;;
                        esac
                        ;;
                esac
            done
            ;;
    esac
    _files "${only[@]}"
}
"#;

fn fish(script: &str) -> String {
    let command = "-n \"__fish_bwz_needs_command\" -a ";
    let first_word = "-n \"test (count (commandline -opc)) -eq 1\" -a ";
    script.replace(command, first_word) + &with_names(FISH, " ")
}

const FISH: &str = r#"
# True if only compressed files make sense: after -d, -t, -l and some commands.
function __fish_bwz_takes_compressed
    set -l words (commandline -opc)
    set -e words[1]
    if contains -- "$words[1]" @COMPRESSED@
        return 0
    end
    if contains -- "$words[1]" @OTHERS@
        return 1
    end
    set -l answer 1
    for word in $words
        switch $word
            case --decompress --uncompress --test --list
                set answer 0
            case --compress
                set answer 1
            case '--*'
            case '-*'
                # The letters before one that takes a value.
                switch (string replace -r '[oSTM].*' '' -- $word)
                    case '*d*' '*t*' '*l*'
                        set answer 0
                    case '*z*'
                        set answer 1
                end
        end
    end
    return $answer
end

function __fish_bwz_compressed
    set -l word (commandline -ct)
    complete -C "__fish_command_without_completions $word" | string match -r '^.*(?:\.t?bwz|/)(?:\t.*)?$'
end

complete -c bwz -n __fish_bwz_takes_compressed -f -a "(__fish_bwz_compressed)"
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_line_is_there() {
        let cli = Cli::command();
        for name in COMPRESSED {
            assert!(cli.find_subcommand(name).is_some(), "{name}");
        }
        let bash = script(Shell::Bash);
        let commands = cli.get_subcommands().count();
        assert_eq!(bash.matches("_bwz_words \"").count(), commands + 1);
        assert!(!bash.contains("COMP_CWORD} -eq 1 ]] ; then"));
        let zsh = script(Shell::Zsh);
        assert_eq!(zsh.matches("\"${positionals[@]}\" \\").count(), 1);
        assert_eq!(zsh.matches("local -a positionals").count(), 1);
        assert_eq!(zsh.matches("case $line[1] in").count(), 1);
        assert_eq!(zsh.matches("\n_bwz_files() {").count(), 1);
        assert!(zsh.matches(":_bwz_files' \\").count() > COMPRESSED.len());
        let fish = script(Shell::Fish);
        assert_eq!(fish.matches("-eq 1\" -a ").count(), commands);
        for script in [bash, zsh, fish] {
            assert!(!script.contains("@COMPRESSED@") && !script.contains("@OTHERS@"));
        }
    }
}
