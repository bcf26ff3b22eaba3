//! How long a server asks to wait before a retry.
//!
//! Sources: RFC 9110 (`Retry-After`: seconds or a date), OpenAI and Anthropic (`retry-after-ms`), Google
//! (`google.rpc.RetryInfo` in the body of an error).

use super::HttpReply;
use crate::foundation::double;

/// The delay in milliseconds, from the headers or else from `retry_delay`, a duration such as `1.5s`.
pub(super) fn milliseconds(reply: &HttpReply<'_>, retry_delay: Option<&str>) -> Option<f64> {
    let number = |text: &str| double::read(text).filter(|number| number.is_finite());
    let header = || {
        let value = reply.header("retry-after")?;
        if let Some(seconds) = number(value) {
            return Some(seconds * 1000.0);
        }
        // The date is relative to the server's own clock, if the answer tells it.
        let now = reply.header("date").and_then(date).or(reply.now_ms)?;
        Some(date(value)? - now)
    };
    let wait = reply
        .header("retry-after-ms")
        .and_then(number)
        .or_else(header)
        .or_else(|| Some(number(retry_delay?.strip_suffix('s')?)? * 1000.0))?;
    Some(wait.max(0.0))
}

/// The milliseconds from 1970 to an HTTP date in the form that servers send: `Sun, 06 Nov 1994 08:49:37 GMT`. The crate
/// `httpdate`, which reads the two obsolete forms as well, would make the `.wasm` 2 kB (brotli) larger.
fn date(text: &str) -> Option<f64> {
    // Two digits each, so that only digits are accepted.
    let mut fields = [0; 6];
    for (field, at) in fields.iter_mut().zip([5, 12, 14, 17, 20, 23]) {
        let &[tens @ b'0'..=b'9', ones @ b'0'..=b'9'] = text.as_bytes().get(at..at + 2)? else { return None };
        *field = i64::from(tens - b'0') * 10 + i64::from(ones - b'0');
    }
    let [day, century, year, hour, minute, second] = fields;
    let year = century * 100 + year;
    let mut months = b"JanFebMarAprMayJunJulAugSepOctNovDec".chunks_exact(3);
    let name = text.as_bytes().get(8..11)?;
    let month = i64::try_from(months.position(|month| month == name)?).ok()? + 1;
    // Days from the civil calendar, with years that begin in March: Howard Hinnant's algorithm.
    let years = if month > 2 { year } else { year - 1 };
    let days_before_month = (153 * ((month + 9) % 12) + 2) / 5;
    let days = years * 365 + years / 4 - years / 100 + years / 400 + days_before_month + day - 719_469;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    #[expect(clippy::cast_precision_loss, reason = "seconds of any year below 10000 are exact")]
    let milliseconds = (seconds * 1000) as f64;
    Some(milliseconds)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_read_as_http_writes_them() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199.0),
            ("Sat, 21 Nov 2026 04:30:00 GMT", 1_795_235_400.0),
        ] {
            assert_eq!(date(text), Some(seconds * 1000.0), "{text}");
        }
        for text in
            ["", "soon", "Sun, 06 Nov 1994", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, x6 Nov 1994 08:49:37 GMT"]
        {
            assert_eq!(date(text), None, "{text}");
        }
    }
}
