//! The first packet of git's own protocol: `git-upload-pack /agent.git\0host=…\0\0version=2\0`.

use crate::error::{CapsuleError, Result};

/// Longest first packet, bytes.
pub(crate) const REQUEST_MAX: usize = 1_024;

/// What a client may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    UploadPack,
    ReceivePack,
}

impl Service {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Service::UploadPack => "upload-pack",
            Service::ReceivePack => "receive-pack",
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) service: Service,
    /// Without the slash before it; compared with the names that are served, never a path.
    pub(crate) repository: String,
    pub(crate) version: Option<u8>,
}

/// The length of a packet, its own four digits included.
pub(crate) fn length(digits: [u8; 4]) -> Result<usize> {
    let text = std::str::from_utf8(&digits).map_err(|_| CapsuleError::Request)?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let length = usize::from_str_radix(text, 16).map_err(|_| CapsuleError::Request)?;
    if is_hex && (5..=REQUEST_MAX).contains(&length) { Ok(length) } else { Err(CapsuleError::Request) }
}

impl Request {
    pub(crate) fn parse(body: &[u8]) -> Result<Request> {
        let mut parts = body.split(|&byte| byte == 0);
        let command =
            parts.next().and_then(|part| std::str::from_utf8(part).ok()).ok_or(CapsuleError::Request)?;
        let command = command.strip_suffix('\n').unwrap_or(command);
        let (service, path) = command.split_once(' ').ok_or(CapsuleError::Request)?;
        let service = match service {
            "git-upload-pack" => Service::UploadPack,
            "git-receive-pack" => Service::ReceivePack,
            _ => return Err(CapsuleError::Request),
        };
        let repository = path.strip_prefix('/').ok_or(CapsuleError::Request)?.to_owned();
        let version = match parts.filter_map(|part| part.strip_prefix(b"version=")).next() {
            None => None,
            Some(b"1") => Some(1),
            Some(b"2") => Some(2),
            Some(_) => return Err(CapsuleError::Request),
        };
        Ok(Request { service, repository, version })
    }
}

/// A packet that tells git why not.
pub(crate) fn refusal(text: &str) -> Vec<u8> {
    let clean: String = text.chars().filter(|c| !c.is_control()).take(400).collect();
    let body = format!("ERR {clean}\n");
    let mut packet = format!("{:04x}", body.len().saturating_add(4)).into_bytes();
    packet.extend(body.into_bytes());
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_sends_reads_ok() {
        let request =
            Request::parse(b"git-upload-pack /agent.git\0host=127.0.0.1:9418\0\0version=2\0").unwrap();
        let wanted =
            Request { service: Service::UploadPack, repository: "agent.git".into(), version: Some(2) };
        assert_eq!(request, wanted);
        let request = Request::parse(b"git-receive-pack /agent.git\0host=x\0").unwrap();
        assert_eq!((request.service, request.version), (Service::ReceivePack, None));
    }

    #[test]
    fn other_services_and_forms_fail() {
        for body in [
            &b""[..],
            b"git-upload-archive /agent.git\0",
            b"git-upload-pack agent.git\0",
            b"git-upload-pack\0",
            b"git-upload-pack /a\0host=x\0\0version=3\0",
            b"git-upload-pack /a\0host=x\0\0version=2:x\0",
            b"sh -c /x\0",
            b"git-upload-pack /\xff\0",
        ] {
            assert_eq!(Request::parse(body).unwrap_err().code(), 7960, "{body:?}");
        }
        for digits in [*b"0000", *b"0004", *b"ffff", *b"+012", *b"zzzz", *b"0401", [0xff; 4]] {
            assert_eq!(length(digits).unwrap_err().code(), 7960, "{digits:?}");
        }
        assert_eq!(length(*b"0400").unwrap(), 1_024);
    }

    #[test]
    fn a_refusal_is_one_packet_whatever_is_in_it() {
        assert_eq!(refusal("no\n\0x"), b"000cERR nox\n");
    }
}
