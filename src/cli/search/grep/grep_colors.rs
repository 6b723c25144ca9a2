//! The colours of the output, as the variable `GREP_COLORS` of GNU grep gives them.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The colours. Each is the numbers of an escape sequence, such as `01;31`, or empty for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GrepColors {
    pub selected_match: Vec<u8>,
    pub context_match: Vec<u8>,
    pub selected_line: Vec<u8>,
    pub context_line: Vec<u8>,
    pub filename: Vec<u8>,
    pub line_number: Vec<u8>,
    pub byte_offset: Vec<u8>,
    pub separator: Vec<u8>,
    /// With `-v`, selected lines have the colour of context, and the other way round.
    pub swapped: bool,
    /// The rest of the terminal's line is cleared after each change of colour.
    pub clears: bool,
}

impl Default for GrepColors {
    fn default() -> Self {
        GrepColors {
            selected_match: b"01;31".into(),
            context_match: b"01;31".into(),
            selected_line: Vec::new(),
            context_line: Vec::new(),
            filename: b"35".into(),
            line_number: b"32".into(),
            byte_offset: b"32".into(),
            separator: b"36".into(),
            swapped: false,
            clears: true,
        }
    }
}

impl GrepColors {
    /// The colours of the environment.
    pub(crate) fn of_environment() -> Self {
        GrepColors::parse(
            env::var_os("GREP_COLORS")
                .unwrap_or_default()
                .as_os_str(),
        )
    }

    /// Reads settings such as `ms=01;32:fn=34:rv`. Unknown ones are passed over. A setting that has
    /// other bytes than digits and semicolons ends the list.
    fn parse(text: &OsStr) -> Self {
        let mut colors = GrepColors::default();
        for setting in text.as_bytes().split(|&byte| byte == b':') {
            let equals = memchr::memchr(b'=', setting);
            let (name, value) = setting.split_at(equals.unwrap_or(setting.len()));
            let value = value.strip_prefix(b"=");
            let is_number = |&byte: &u8| byte == b';' || byte.is_ascii_digit();
            if value.is_some() && name.is_empty()
                || !value.unwrap_or_default().iter().all(is_number)
            {
                break;
            }
            colors.set(name, value);
        }
        colors
    }

    fn set(&mut self, name: &[u8], value: Option<&[u8]>) {
        let color = match name {
            b"mt" | b"ms" => &mut self.selected_match,
            b"mc" => &mut self.context_match,
            b"sl" => &mut self.selected_line,
            b"cx" => &mut self.context_line,
            b"fn" => &mut self.filename,
            b"ln" => &mut self.line_number,
            b"bn" => &mut self.byte_offset,
            b"se" => &mut self.separator,
            b"rv" => return self.swapped = true,
            b"ne" => return self.clears = false,
            _ => return,
        };
        if let Some(value) = value {
            *color = value.into();
        }
        if name == b"mt" {
            self.context_match = self.selected_match.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_setting_ends_the_list() {
        let parse = |text: &str| GrepColors::parse(text.as_ref());
        assert_eq!(parse(""), GrepColors::default());
        assert_eq!(parse("fn=x:ln=33"), GrepColors::default());
        assert_eq!(parse("=3:ln=33"), GrepColors::default());
        let colors = parse("mt=01;32:zz=1:fn=:rv:ne:ln=33:bn=3=4:se=1");
        assert_eq!(colors.context_match, b"01;32");
        assert_eq!(colors.line_number, b"33");
        assert_eq!(colors.byte_offset, b"32");
        assert!(colors.filename.is_empty() && colors.swapped && !colors.clears);
    }
}
