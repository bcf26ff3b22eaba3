//! A host with a simulated clock: it makes the calls and computes the metrics that a run asks for, in no
//! time, and checks whatever must hold of every run.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use adk_metrics::judge::calls::{Call, Usage};
use adk_metrics::judge::provider::Failure;
use adk_metrics::judge::votes::VotingRule;
use adk_metrics::metrics::judged::{Purpose, Question};
use adk_metrics::run::{
    Action, CaseResult, CustomEvaluation, CustomScore, CustomTask, JudgeCall, JudgeReply, Options, Pairing,
    Run,
};

/// SplitMix64, for what tests leave to chance.
#[derive(Clone)]
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ (bits >> 31)) % n
    }

    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// What becomes of a call, and after how many milliseconds.
pub(crate) enum Fate {
    Reply(u64, JudgeReply),
    /// The reply is in a cache; nothing is sent.
    Cached(JudgeReply),
    Fail(u64, Failure),
    Hang,
}

/// What a run wanted of its host.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wish {
    Send { call: Call, metric: usize, pairing: Pairing },
    Abort(u32),
    Custom(CustomTask),
    Case(Pairing),
}

/// Who plays the judges and the metrics of the host, and when to give up.
pub(crate) struct Script<'s> {
    /// Given the time.
    pub(crate) judge: &'s mut dyn FnMut(u64, &JudgeCall, &Question) -> Fate,
    /// How long a metric of the host takes.
    pub(crate) custom_takes: u64,
    /// When the run is cancelled.
    pub(crate) cancel_at: Option<u64>,
    /// Whether nothing but the number of slots keeps calls from being sent.
    pub(crate) keeps_busy: bool,
}

/// All that happened.
pub(crate) struct Story<'a> {
    pub(crate) results: Vec<CaseResult<'a>>,
    pub(crate) wishes: Vec<(u64, Wish)>,
    /// When the run finished.
    pub(crate) took: u64,
    /// The most calls that had to wait for one another. Right if no call fails.
    pub(crate) longest_chain: u64,
    /// The samples of all questions that were asked.
    pub(crate) samples: u32,
}

impl Story<'_> {
    pub(crate) fn sent(&self) -> impl Iterator<Item = (u64, &Call, usize)> {
        self.wishes.iter().filter_map(|(at, wish)| match wish {
            Wish::Send { call, metric, .. } => Some((*at, call, *metric)),
            _ => None,
        })
    }

    pub(crate) fn aborted(&self) -> impl Iterator<Item = u64> {
        self.wishes.iter().filter(|(_, wish)| matches!(wish, Wish::Abort(_))).map(|(at, _)| *at)
    }
}

/// Case, run, metric, turn, step, and whether sentences are checked.
type Place = (usize, Option<usize>, usize, usize, usize, bool);

struct Flight {
    metric: usize,
    place: Place,
    /// How many calls it had to wait for, itself included.
    depth: u64,
    purpose: Purpose,
    news: Option<News>,
}

enum News {
    Reply(JudgeReply),
    Fail(Failure),
}

/// What is known to have happened, to compare the run's own count with.
#[derive(Default)]
struct Counts {
    sent: u32,
    answered: u32,
    failed: u32,
    aborted: u32,
    cached: u32,
    repeated: u32,
    usage: Usage,
}

struct Host<'s, 'h> {
    script: &'h mut Script<'s>,
    options: Options,
    limits: Vec<Option<u32>>,
    now: u64,
    /// When, and of which call or task.
    events: BinaryHeap<Reverse<(u64, bool, u32)>>,
    flights: HashMap<u32, Flight>,
    late: HashMap<u32, News>,
    customs: HashMap<u32, CustomTask>,
    /// For each question how deep in a chain its samples are.
    depths: HashMap<Place, Vec<u64>>,
    open: HashSet<(usize, Option<usize>)>,
    counts: Counts,
    /// Samples for which a call was made.
    asked: HashSet<(u32, u32)>,
    wishes: Vec<(u64, Wish)>,
    longest_chain: u64,
    samples: u32,
}

/// Plays a run to its end.
pub(crate) fn play<'a>(run: &mut Run<'a>, options: &Options, script: &mut Script<'_>) -> Story<'a> {
    let limit = |index: usize| match &run.plan().metrics[index].scorer {
        adk_metrics::run::MetricScorer::Judge(judged) => judged.judge_config().options.parallelism_limit,
        _ => None,
    };
    let limits = (0..run.plan().metrics.len()).map(limit).collect();
    let mut host = Host {
        script,
        options: options.clone(),
        limits,
        now: 0,
        events: BinaryHeap::new(),
        flights: HashMap::new(),
        late: HashMap::new(),
        customs: HashMap::new(),
        depths: HashMap::new(),
        open: HashSet::new(),
        counts: Counts::default(),
        asked: HashSet::new(),
        wishes: Vec::new(),
        longest_chain: 0,
        samples: 0,
    };
    let mut results = Vec::new();
    loop {
        match run.poll(host.now as f64) {
            Action::Send(call) => host.send(run, call),
            Action::Abort(call) => host.abort(call),
            Action::Pause => {}
            Action::Custom(task) => host.begin(task),
            Action::Case(case) => {
                host.open.remove(&(case.pairing.case, case.pairing.run));
                host.wishes.push((host.now, Wish::Case(case.pairing)));
                results.push(case);
            }
            Action::Wait(until) => host.wait(run, until, &results),
            Action::Finished => break,
        }
    }
    let took = host.now;
    assert!(host.customs.is_empty() && host.open.is_empty(), "nothing is left open");
    host.check(run);
    while let Some(Reverse((_, _, id))) = host.events.pop() {
        host.report_late(run, id);
    }
    assert!(matches!(run.poll(took as f64), Action::Finished));
    let Host { wishes, longest_chain, samples, .. } = host;
    Story { results, wishes, took, longest_chain, samples }
}

impl Host<'_, '_> {
    fn send(&mut self, run: &mut Run<'_>, call: JudgeCall) {
        let question = run.question(&call).unwrap().clone();
        let JudgeCall { call: Call { id, sample, attempt, .. }, metric, pairing } = call;
        self.open.insert((pairing.case, pairing.run));
        self.wishes.push((self.now, Wish::Send { call: call.call, metric, pairing }));
        let is_check = question.purpose == Purpose::Validate;
        let place = (pairing.case, pairing.run, metric, question.invocation, question.step, is_check);
        let first_wave = match question.rule {
            VotingRule::Majority { early_stop: true } => question.samples.div_ceil(2),
            _ => question.samples,
        };
        let depths = self.depths.entry(place).or_default();
        if depths.is_empty() {
            depths.resize(first_wave as usize, 1);
        }
        if sample == 0 && attempt == 1 {
            self.samples += question.samples;
        }
        let depth = depths.get(sample as usize).copied().unwrap_or(1);
        let mut flight = Flight { metric, place, depth, purpose: question.purpose, news: None };
        let fate = (self.script.judge)(self.now, &call, &question);
        if let Fate::Cached(reply) = fate {
            self.counts.cached += 1;
            self.reply(run, &flight, id, reply, true);
            return;
        }
        self.counts.sent += 1;
        let is_first = self.asked.insert((call.call.question, call.call.sample));
        self.counts.repeated += u32::from(!is_first);
        self.longest_chain = self.longest_chain.max(depth);
        if let Fate::Reply(after, _) | Fate::Fail(after, _) = &fate {
            self.events.push(Reverse((self.now + after, true, id)));
        }
        flight.news = match fate {
            Fate::Reply(_, reply) => Some(News::Reply(reply)),
            Fate::Fail(_, failure) => Some(News::Fail(failure)),
            Fate::Cached(_) | Fate::Hang => None,
        };
        self.flights.insert(id, flight);
        assert!(
            self.flights.len() <= self.options.judges.calls.concurrency as usize,
            "too many calls at once"
        );
        let of_metric = self.flights.values().filter(|flight| flight.metric == metric).count();
        assert!(self.limits[metric].is_none_or(|limit| of_metric <= limit as usize), "too many of a metric");
    }

    fn reply(&mut self, run: &mut Run<'_>, flight: &Flight, id: u32, reply: JudgeReply, cached: bool) {
        let before = run.progress().queued;
        run.handle_reply(self.now as f64, id, reply, cached);
        let added = (run.progress().queued - before) as usize;
        if added > 0 {
            let mut place = flight.place;
            place.5 |= flight.purpose == Purpose::Segment;
            // What is found in a cache takes no time.
            let depth = flight.depth + u64::from(!cached);
            let depths = self.depths.entry(place).or_default();
            depths.resize(depths.len() + added, depth);
        }
    }

    fn abort(&mut self, id: u32) {
        self.wishes.push((self.now, Wish::Abort(id)));
        let flight = self.flights.remove(&id).expect("only what was sent is aborted");
        self.counts.aborted += 1;
        if let Some(news) = flight.news {
            self.late.insert(id, news);
        }
    }

    fn begin(&mut self, task: CustomTask) {
        self.open.insert((task.pairing.case, task.pairing.run));
        self.wishes.push((self.now, Wish::Custom(task)));
        self.customs.insert(task.id.0, task);
        assert!(self.customs.len() <= self.options.concurrency, "too many metrics of the host at once");
        self.events.push(Reverse((self.now + self.script.custom_takes, false, task.id.0)));
    }

    fn wait(&mut self, run: &mut Run<'_>, until: Option<f64>, results: &[CaseResult<'_>]) {
        self.check(run);
        let concurrency = self.options.judges.calls.concurrency as usize;
        let most_open = 8 * concurrency.max(self.options.concurrency);
        assert!(self.open.len() <= most_open, "{} cases are open", self.open.len());
        if self.script.keeps_busy && self.flights.len() < concurrency {
            assert_eq!(run.progress().queued, 0, "a call could be sent");
            let begun = results.len() + self.open.len();
            let is_full = self.open.len() == most_open || self.customs.len() == self.options.concurrency;
            assert!(begun == run.total() || is_full, "a case could be begun");
        }
        assert!(until.is_none_or(|until| until > self.now as f64), "waiting for the past never ends");
        let wake = until.map_or(u64::MAX, |until| until.ceil() as u64);
        let event = self.events.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
        let next = wake.min(event);
        assert!(next < u64::MAX, "nothing will ever happen: {:?}", run.progress());
        if let Some(at) = self.script.cancel_at.filter(|at| *at <= next) {
            self.now = at;
            self.script.cancel_at = None;
            run.cancel();
            self.customs.clear();
            return;
        }
        self.now = next;
        if event <= wake
            && let Some(Reverse((_, is_call, id))) = self.events.pop()
        {
            match is_call {
                true => self.report(run, id),
                false => self.compute(run, id),
            }
        }
    }

    fn report(&mut self, run: &mut Run<'_>, id: u32) {
        let Some(mut flight) = self.flights.remove(&id) else { return self.report_late(run, id) };
        let again = match flight.news.take().unwrap() {
            News::Reply(reply) => {
                self.counts.answered += 1;
                let usage = reply.usage.tokens().unwrap_or_default();
                self.counts.usage.input_tokens += usage.input_tokens;
                self.counts.usage.output_tokens += usage.output_tokens;
                self.reply(run, &flight, id, reply.clone(), false);
                News::Reply(reply)
            }
            News::Fail(failure) => {
                self.counts.failed += 1;
                run.handle_failure(self.now as f64, id, &failure);
                News::Fail(failure)
            }
        };
        if id.is_multiple_of(7) {
            // A host may report twice, or of calls that it made up.
            self.late.insert(id, again);
            self.report_late(run, id);
            self.late.insert(u32::MAX - id, News::Reply(JudgeReply::default()));
            self.report_late(run, u32::MAX - id);
        }
    }

    /// Nobody waits for this any more.
    fn report_late(&mut self, run: &mut Run<'_>, id: u32) {
        let before = run.progress();
        match self.late.remove(&id) {
            Some(News::Reply(reply)) => run.handle_reply(self.now as f64, id, reply, id.is_multiple_of(2)),
            Some(News::Fail(failure)) => run.handle_failure(self.now as f64, id, &failure),
            None => {}
        }
        let after = run.progress();
        assert_eq!(
            (before.calls, before.answered, before.cached, before.lost, before.queued, before.usage),
            (after.calls, after.answered, after.cached, after.lost, after.queued, after.usage),
        );
    }

    fn compute(&mut self, run: &mut Run<'_>, id: u32) {
        if let Some(task) = self.customs.remove(&id) {
            let score = Some(f64::from(u32::from(task.pairing.case % 2 == 0)));
            let overall = CustomScore { score, ..CustomScore::default() };
            run.handle_custom(task.id, Ok(CustomEvaluation { overall, turns: Vec::new() }));
        }
    }

    fn check(&self, run: &Run<'_>) {
        let progress = run.progress();
        let Counts { sent, answered, failed, aborted, cached, repeated, usage } = self.counts;
        assert_eq!(progress.in_flight as usize, self.flights.len());
        assert_eq!(progress.calls, sent);
        assert_eq!(progress.answered, answered);
        assert_eq!(progress.cached, cached);
        assert_eq!(progress.retried, repeated);
        assert_eq!(progress.usage, usage);
        assert_eq!(sent, answered + failed + aborted + progress.in_flight);
        assert_eq!(progress.left_ms.is_some(), answered > 0);
    }
}
