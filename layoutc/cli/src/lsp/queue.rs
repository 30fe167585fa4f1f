//! Queue of the messages from the editor, which a separate thread reads from standard input.

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, BufReader};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use lsp_server::{Message, RequestId};
use lsp_types::notification::{Cancel, Notification as _};
use lsp_types::{CancelParams, NumberOrString};

use super::wire::{self, IncomingMessage};

/// Messages from the client that were not handled yet, in order of arrival. Cancellations are not among them: they are
/// applied to the queued requests on arrival.
#[derive(Debug)]
pub(super) struct MessageQueue {
    receiver: Receiver<IncomingMessage>,
    waiting: VecDeque<IncomingMessage>,
    /// Identifiers of the queued requests that the client cancelled.
    cancelled: BTreeSet<String>,
}

impl MessageQueue {
    /// Queue that a new thread fills with the messages on standard input.
    pub(super) fn of_stdin() -> Self {
        let (sender, receiver) = channel();
        thread::spawn(move || forward(&sender));
        Self { receiver, waiting: VecDeque::new(), cancelled: BTreeSet::new() }
    }

    /// Next message, `None` if no message is waiting.
    pub(super) fn take(&mut self) -> Option<IncomingMessage> {
        self.gather();
        self.waiting.pop_front()
    }

    /// Next message; blocks until one arrives or the input ends.
    pub(super) fn wait(&mut self) -> IncomingMessage {
        loop {
            if let Some(arrival) = self.take() {
                return arrival;
            }
            match self.receiver.recv() {
                Ok(arrival) => self.put(arrival),
                Err(_) => return IncomingMessage::End,
            }
        }
    }

    /// True if the client cancelled the request `id` while it was queued. The cancellation is then forgotten.
    pub(super) fn is_cancelled(&mut self, id: &RequestId) -> bool {
        self.gather();
        self.cancelled.remove(&id.to_string())
    }

    fn gather(&mut self) {
        while let Ok(arrival) = self.receiver.try_recv() {
            self.put(arrival);
        }
    }

    fn put(&mut self, arrival: IncomingMessage) {
        if let IncomingMessage::Message(Message::Notification(message)) = &arrival
            && message.method == Cancel::METHOD
        {
            let params = serde_json::from_value::<CancelParams>(message.params.clone());
            let id = params.ok().map(|params| match params.id {
                NumberOrString::Number(id) => RequestId::from(id),
                NumberOrString::String(id) => RequestId::from(id),
            });
            // Only a request in the queue can be cancelled.
            let waits = |id: &RequestId| {
                self.waiting.iter().any(|waiting| match waiting {
                    IncomingMessage::Message(Message::Request(request)) => request.id == *id,
                    _ => false,
                })
            };
            if let Some(id) = id.filter(waits) {
                self.cancelled.insert(id.to_string());
            }
            return;
        }
        self.waiting.push_back(arrival);
    }
}

/// Sends the messages on standard input to `sender`, the sending end of the queue, until the input ends or fails. The
/// last one is then [`IncomingMessage::End`].
fn forward(sender: &Sender<IncomingMessage>) {
    let mut input = BufReader::new(io::stdin());
    loop {
        let arrival = wire::read(&mut input).unwrap_or(IncomingMessage::End);
        let is_end = matches!(arrival, IncomingMessage::End);
        if sender.send(arrival).is_err() || is_end {
            return;
        }
    }
}
