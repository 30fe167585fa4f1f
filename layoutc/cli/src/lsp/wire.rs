//! Framing of the messages of the language server protocol: a header with the length of the body, then the body.
//!
//! Malformed input is skipped up to the next header. A broken message therefore does not end the session. Source:
//! Language Server Protocol 3.17, section "Base Protocol".

use std::io::{self, BufRead, Read, Write};

use lsp_server::Message;
use serde_json::json;

/// Maximum length of a header line in bytes.
const LONGEST_LINE: u64 = 4096;
/// Maximum length of a message in bytes, enough for the longest manifest with every character escaped.
const LONGEST: u64 = 512 << 20;
/// Name of the only header that the server evaluates, in lower case and with its colon.
const LENGTH: &str = "content-length:";

/// Result of reading a message from the client: a message, malformed input, or the end of the input.
#[derive(Debug)]
pub(super) enum IncomingMessage {
    Message(Message),
    /// Malformed input, with the reason why it is invalid.
    Malformed(String),
    /// End of the input, or input that ends in the middle of a message.
    End,
}

/// Reads the next message from `input`. Malformed input is returned as such, and reading continues after it at the next
/// call.
///
/// # Errors
/// An error of the system in reading `input`.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<IncomingMessage> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(IncomingMessage::End);
        }
        let line = String::from_utf8_lossy(&line).to_ascii_lowercase();
        let line = line.trim();
        if line.is_empty() {
            match length {
                Some(length) => return body(input, length),
                // Ignore empty lines between messages.
                None => continue,
            }
        }
        // After a truncated message, a header may start in the middle of a line.
        match line.rfind(LENGTH) {
            Some(at) => {
                let number = line.get(at + LENGTH.len()..).unwrap_or_default().trim();
                match number.parse::<u64>() {
                    Ok(number) if number <= LONGEST => length = Some(number),
                    _ => {
                        return Ok(IncomingMessage::Malformed(format!(
                            "invalid content length `{number}`"
                        )));
                    }
                }
            }
            None if line.starts_with("content-type:") => {}
            None => return Ok(IncomingMessage::Malformed("invalid header".to_owned())),
        }
    }
}

fn body(input: &mut impl BufRead, length: u64) -> io::Result<IncomingMessage> {
    // Allocates as bytes arrive, not by the declared length.
    let mut body = Vec::new();
    input.by_ref().take(length).read_to_end(&mut body)?;
    if u64::try_from(body.len()).unwrap_or(u64::MAX) < length {
        return Ok(IncomingMessage::End);
    }
    Ok(match serde_json::from_slice::<Message>(&body) {
        Ok(message) => IncomingMessage::Message(message),
        Err(error) => IncomingMessage::Malformed(error.to_string()),
    })
}

/// Writes `message` with its header to `output`, and flushes it.
///
/// # Errors
/// An error of the system in writing.
pub(super) fn write(output: &mut impl Write, message: &Message) -> io::Result<()> {
    message.write(output)?;
    output.flush()
}

/// Writes the error response for malformed input, which has no request to refer to. `reason` is the text why the input
/// is invalid.
///
/// # Errors
/// An error of the system in writing.
pub(super) fn respond_invalid(output: &mut impl Write, reason: &str) -> io::Result<()> {
    let error = json!({ "code": -32700, "message": reason });
    let answer = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
    write!(output, "Content-Length: {}\r\n\r\n{answer}", answer.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(input: &[u8]) -> Vec<String> {
        let mut input = io::BufReader::new(input);
        let mut all = Vec::new();
        loop {
            match read(&mut input).expect("bytes") {
                IncomingMessage::Message(Message::Notification(message)) => {
                    all.push(message.method);
                }
                IncomingMessage::Message(_) => all.push("another".to_owned()),
                IncomingMessage::Malformed(_) => all.push("garbage".to_owned()),
                IncomingMessage::End => return all,
            }
        }
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn message_after_garbage_is_read() {
        let good = framed(r#"{"jsonrpc":"2.0","method":"exit"}"#);
        for bad in [
            "nonsense\r\n",
            "Content-Length: many\r\n",
            "Content-Length: 99999999999999999999\r\n",
            "Content-Length: 9999999999999\r\n",
            "{\"half\": a message}",
            &framed("{]"),
            &framed("[]"),
            "\u{0}\u{1}\n",
        ] {
            let all = arrivals(format!("{bad}{good}{good}").as_bytes());
            assert_eq!(all.last().map(String::as_str), Some("exit"), "{bad:?}: {all:?}");
        }
        assert_eq!(arrivals(b"Content-Length: 10\r\n\r\n{}"), [""; 0]);
        assert_eq!(arrivals(format!("\r\n{good}").as_bytes()), ["exit"]);
    }
}
