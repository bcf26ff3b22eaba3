//! Drives a run whose judge answers from a script, as a host would.

use adk_metrics::judge::provider::{Failure, HostFailure, TokenCounts};
use adk_metrics::metrics::judged::Question;
use adk_metrics::run::{Action, CaseResult, JudgeReply, Run};

/// What a judge answers: to a question, for a sample; nothing if the call fails.
pub(crate) type Judge<'j> = &'j dyn Fn(&Question, u32) -> Option<String>;

/// All case results, and how many calls were made. Calls are answered at once, in the order sent or,
/// if `backwards`, the last one first.
pub(crate) fn drive<'a>(run: &mut Run<'a>, judge: Judge<'_>, backwards: bool) -> (Vec<CaseResult<'a>>, u32) {
    let mut results = Vec::new();
    let mut sent = Vec::new();
    let mut asked = 0;
    let mut now = 0.0;
    loop {
        match run.poll(now) {
            Action::Case(case) => results.push(case),
            Action::Finished => return (results, asked),
            Action::Custom(_) => panic!("no metric of the user's own"),
            Action::Abort(_) | Action::Pause => {}
            Action::Send(call) => {
                let question = run.question(&call).unwrap();
                let reply = judge(question, call.call.sample);
                asked += 1;
                sent.push((call.call.id, reply));
            }
            Action::Wait(until) => {
                now += 1.0;
                if sent.is_empty() {
                    now = until.unwrap();
                    continue;
                }
                let (call, reply) = if backwards { sent.pop().unwrap() } else { sent.remove(0) };
                match reply {
                    Some(text) => {
                        run.handle_reply(now, call, JudgeReply { text, usage: TokenCounts::default() }, false)
                    }
                    None => {
                        let refused = HostFailure { message: "refused", ..HostFailure::default() };
                        run.handle_failure(now, call, &Failure::from_host(&refused));
                    }
                }
            }
        }
    }
}
