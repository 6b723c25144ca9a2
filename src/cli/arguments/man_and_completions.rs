//! `bwz completions` and `bwz man`: the files that packages install, made from the definitions of
//! the arguments.

use crate::cli::arguments::args::Cli;
use crate::cli::arguments::shell_completions;
use crate::cli::files::descriptors;
use crate::cli::report::console;
use crate::cli::report::exit::Exit;
use bwz::Error;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::{self, Write};

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: Shell) -> Exit {
    print(Ok(shell_completions::script(shell).into_bytes()))
}

/// Prints one man page for everything, commands included.
pub(crate) fn man() -> Exit {
    print(page())
}

/// Prints the version, the description and the license.
pub(crate) fn license() -> Exit {
    print(Ok(format!(
        "bwz {}, {}\nIt may be used, changed and passed on under the terms of either license of: {}.\n\
         It comes without any warranty.\n",
        env!("CARGO_PKG_VERSION"),
        env!("CARGO_PKG_DESCRIPTION"),
        env!("CARGO_PKG_LICENSE"),
    )
    .into_bytes()))
}

fn page() -> io::Result<Vec<u8>> {
    let mut cli = Cli::command();
    cli.build();
    let mut page = Vec::new();
    let man = Man::new(cli.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    for command in cli.get_subcommands() {
        page.extend(command_section(command)?);
    }
    let mut notes = Vec::new();
    man.render_extra_section(&mut notes)?;
    page.extend(rename(notes, |_| ".SH NOTES".into()));
    Ok(page)
}

/// Renders a command's page as one section of the whole page. Its sections become subsections.
fn command_section(command: &clap::Command) -> io::Result<Vec<u8>> {
    let name = command.get_name().to_uppercase();
    let mut section = format!(".SH \"BWZ {name}\"\n").into_bytes();
    let man = Man::new(command.clone());
    let mut body = Vec::new();
    man.render_description_section(&mut body)?;
    man.render_synopsis_section(&mut body)?;
    man.render_options_section(&mut body)?;
    section.extend(rename(body, |heading| heading.replacen(".SH", ".SS", 1)));
    Ok(section)
}

/// Replaces the section headings in a piece of roff.
fn rename(roff: Vec<u8>, heading: impl Fn(&str) -> String) -> Vec<u8> {
    let text = String::from_utf8_lossy(&roff);
    let lines = text
        .lines()
        .map(|line| match line.starts_with(".SH ") {
            true => heading(line) + "\n",
            false => format!("{line}\n"),
        });
    lines.collect::<String>().into_bytes()
}

fn print(text: io::Result<Vec<u8>>) -> Exit {
    match text.and_then(|text| descriptors::stdout()?.write_all(&text)) {
        Ok(()) => Exit::Fine,
        Err(e) => console::fail(&Error::Io(e)),
    }
}
