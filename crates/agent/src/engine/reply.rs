//! What the engine answers: JSON, an error as `{"detail": …}`, or a stream of events.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::host::HostEnded;

pub(super) type Reply = Response<ReplyBody>;

/// A request that is refused or failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    status: StatusCode,
    detail: String,
}

impl Problem {
    pub(super) fn new(status: StatusCode, detail: impl Into<String>) -> Problem {
        Problem { status, detail: detail.into() }
    }

    /// The request is wrong.
    pub(super) fn bad(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, detail)
    }

    #[cfg(test)]
    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) fn reply(self) -> Reply {
        let mut reply = json_reply(self.status, &json!({ "detail": self.detail }));
        // What follows on the connection is not trusted: its body may be unread.
        reply.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        reply
    }
}

impl From<HostEnded> for Problem {
    fn from(_: HostEnded) -> Problem {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the engine has ended: start it again")
    }
}

pub(super) fn ok(body: &Value) -> Reply {
    json_reply(StatusCode::OK, body)
}

fn json_reply(status: StatusCode, body: &Value) -> Reply {
    let mut reply = Response::new(ReplyBody::Whole(Some(Bytes::from(body.to_string()))));
    *reply.status_mut() = status;
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

pub(super) fn stream(frames: mpsc::Receiver<Bytes>) -> Reply {
    let mut reply = Response::new(ReplyBody::Stream(frames));
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply
}

/// Known from the start, or sent piece by piece as it comes.
pub(super) enum ReplyBody {
    Whole(Option<Bytes>),
    Stream(mpsc::Receiver<Bytes>),
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match &mut *self {
            ReplyBody::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            ReplyBody::Stream(frames) => {
                frames.poll_recv(context).map(|frame| frame.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ReplyBody::Whole(bytes) => SizeHint::with_exact(
                bytes.as_ref().map_or(0, |bytes| u64::try_from(bytes.len()).unwrap_or(0)),
            ),
            ReplyBody::Stream(_) => SizeHint::new(),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, ReplyBody::Whole(None))
    }
}
