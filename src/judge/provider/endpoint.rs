//! An endpoint: the server and credentials for a provider. It renders questions as HTTP requests and reads the
//! answers.

use std::borrow::Cow;

use super::config::MappedSettings;
use super::json_path::{string, string_at, tokens as count_of};
use super::{
    DraftReply, Failure, FailureKind, HttpReply, HttpRequest, Protocol, Provider, Reply, Request,
    TokenCounts, UsagePaths,
};
use super::{anthropic, failure, json_path, tokens};
use crate::foundation::json::{Document, Json};

/// The server and credentials for a provider.
#[derive(Clone)]
pub struct Endpoint {
    /// The protocol.
    pub provider: Provider,
    /// The provider's key.
    pub api_key: Option<String>,
    /// An access token, sent as `Authorization: Bearer`. It takes precedence over the key.
    pub bearer: Option<String>,
    /// The server's URL, if not the provider's own: with the version for OpenAI (`http://127.0.0.1:8000/v1`),
    /// with or without it for the others.
    pub base_url: Option<String>,
    /// The model to ask, whatever a request says.
    pub model: Option<String>,
    /// Additional headers. They override those set here.
    pub headers: Vec<(String, String)>,
    /// The Google Cloud project, for Vertex AI.
    pub project: Option<String>,
    /// The Google Cloud location, for Vertex AI; `global` if absent.
    pub location: Option<String>,
    /// Whether the request is sent by a web page.
    pub in_browser: bool,
    /// Whether the host adds a fresh access token to each request; see [`HttpRequest::needs_token`].
    pub token_per_call: bool,
}

impl Endpoint {
    /// The provider's own server, without a key.
    #[must_use]
    pub fn new(provider: Provider) -> Self {
        Self {
            provider,
            api_key: None,
            bearer: None,
            base_url: None,
            model: None,
            headers: Vec::new(),
            project: None,
            location: None,
            in_browser: false,
            token_per_call: false,
        }
    }

    /// The origin of the server that is asked.
    #[must_use]
    pub fn origin(&self) -> String {
        let url = (self.provider.protocol().url)(self, "");
        let end = url.match_indices('/').nth(2).map_or(url.len(), |(at, _)| at);
        url.get(..end).unwrap_or_default().to_owned()
    }

    /// What messages call it: the provider, or a server of the user's own by its host and port.
    pub(super) fn label(&self) -> Cow<'static, str> {
        let origin = self.origin();
        if self.base_url.is_none() || origin == (Self { base_url: None, ..self.clone() }).origin() {
            return Cow::Borrowed(self.provider.label());
        }
        // What stands before the host may be a password.
        let host = origin.rsplit(['/', '@']).next().unwrap_or_default();
        Cow::Owned(["The server at ", host].concat())
    }

    /// Checks whether anything is missing that every request needs.
    ///
    /// # Errors
    /// A failure of kind `auth` that names what to set. A server at a `base_url` may need no key.
    pub fn check(&self) -> Result<(), Box<Failure>> {
        let keyed = self.api_key.is_some()
            || self.bearer.is_some()
            || self.headers.iter().any(|(name, _)| is_credential(name))
            || (self.base_url.is_some() && self.provider != Provider::Vertex)
            || self.provider == Provider::Ollama;
        // A key determines its project; a token does not.
        let placed = self.provider != Provider::Vertex || self.project.is_some() || self.bearer.is_none();
        let missing = match (keyed, placed) {
            (true, true) => return Ok(()),
            (false, _) => "has no key",
            (true, false) => "has no project",
        };
        let wanted = if keyed {
            "GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION"
        } else {
            self.provider.protocol().keys
        };
        let help = ["Set ", wanted, ", or give it in the options"].concat();
        Err(Failure::new(self, FailureKind::Auth, &[missing]).with_help(&help))
    }

    /// The question as an HTTP request.
    ///
    /// # Errors
    /// A failure of kind `bad_request` if the model, project or location cannot be part of the URL.
    pub fn render(&self, request: &Request<'_>) -> Result<HttpRequest, Box<Failure>> {
        let model = self.model(request);
        self.check_address(Some(model))?;
        let protocol = self.provider.protocol();
        let broken = if self.may_read_tokens() { tokens::broken(request.prompt) } else { None };
        let request = &Request { prompt: broken.as_deref().unwrap_or(request.prompt), ..*request };
        let mut settings =
            MappedSettings::read(self, model, request.config, request.response_schema.is_some());
        if let Some(system) = request.system.filter(|system| !system.is_empty()) {
            let rest = std::mem::replace(&mut settings.system, system.to_owned());
            if !rest.is_empty() {
                settings.system.push_str("\n\n");
                settings.system.push_str(&rest);
            }
        }
        let mut url = (protocol.url)(self, model);
        let query = self.base_and_query().1;
        if !query.is_empty() {
            url.push('?');
            url.push_str(query);
        }
        Ok(HttpRequest {
            url,
            headers: self.request_headers(),
            body: (protocol.body)(request, model, &mut settings),
            needs_token: self.needs_token(),
        })
    }

    /// Rejects parts of the URL that would lead elsewhere, such as the location `evil.example/x` or the model
    /// `../files`.
    pub(super) fn check_address(&self, model: Option<&str>) -> Result<(), Box<Failure>> {
        let refuse = |what: &str, value: &str, help: &str| {
            Err(Failure::new(
                self,
                FailureKind::BadRequest,
                &["cannot be asked: the ", what, " is `", value, "`"],
            )
            .with_help(help))
        };
        if self.provider == Provider::Vertex {
            let location = self.location.as_deref().unwrap_or("global");
            if !consists_of(location, "-") {
                return refuse(
                    "location",
                    location,
                    "A location has lower-case letters, digits and `-` only, such as us-central1",
                );
            }
            // Projects of a domain have names like `example.com:name`.
            let project = self.project.as_deref().unwrap_or("p");
            if !consists_of(project, "-.:") || project.starts_with('.') {
                return refuse(
                    "project",
                    project,
                    "A project's id has lower-case letters, digits and `-` only; after a domain, `.` and `:` too",
                );
            }
        }
        let Some(model) = model.filter(|_| self.provider.is_gemini()) else { return Ok(()) };
        let (whole, help): (&[(&str, &[usize])], _) = if self.provider == Provider::Gemini {
            const FORMS: &str =
                "A model is called name, models/name or tunedModels/name, and no part of it `.` or `..`";
            (&[("models", &[2]), ("tunedModels", &[2])], FORMS)
        } else {
            const FORMS: &str = "A model is called name, publishers/…/models/name, or projects/…/locations/…/endpoints/name, and no part of it `.` or `..`";
            (&[("publishers", &[4]), ("projects", &[6, 8])], FORMS)
        };
        let parts: Vec<&str> = model.split('/').collect();
        let is_form = parts.len() == 1
            || whole.iter().any(|(kind, lengths)| {
                parts.first().is_some_and(|first| first == kind) && lengths.contains(&parts.len())
            });
        let is_part =
            |part: &&str| !matches!(*part, "" | "." | "..") && !part.bytes().any(|byte| byte < b' ');
        if is_form && parts.iter().all(is_part) { Ok(()) } else { refuse("model", model, help) }
    }

    /// The settings of a `judge_model_config` that would not be sent to this provider, one sentence for each.
    #[must_use]
    pub fn warnings(&self, config: Json<'_>) -> Vec<String> {
        MappedSettings::read(self, self.model.as_deref().unwrap_or_default(), Some(config), true).left_out
    }

    /// Reads an answer.
    ///
    /// # Errors
    /// An error status or body, a refusal, a blocked prompt, a reply without text, a body that is not in the
    /// provider's format. Each says what to do and whether a retry may help.
    pub fn read(&self, reply: &HttpReply<'_>) -> Result<Reply, Box<Failure>> {
        let document = Document::parse(reply.body).ok();
        let body = document.as_ref().map(Document::root);
        let UsagePaths { input, output, total } = self.provider.protocol().paths.usage;
        let count = |paths| body.and_then(|body| count_of(body, paths));
        let usage = TokenCounts { input: count(input), output: count(output), total: count(total) };
        self.read_body(reply, body, usage).map_err(|failure| Box::new(Failure { usage, ..*failure }))
    }

    fn read_body(
        &self,
        reply: &HttpReply<'_>,
        body: Option<Json<'_>>,
        usage: TokenCounts,
    ) -> Result<Reply, Box<Failure>> {
        if let Some(failure) = Failure::answered(self, reply, body) {
            return Err(failure);
        }
        let Protocol { paths, read, .. } = self.provider.protocol();
        let body = body.filter(|body| paths.own.iter().any(|path| json_path::get(*body, path).is_some()));
        let Some(body) = body else { return Err(failure::malformed(self, reply)) };

        let mut answer = DraftReply::default();
        read(body, &mut answer);
        let stop = string(body, paths.stop);
        let truncated = CUT_OFF.contains(&&*stop);
        answer.refusal.push_str(&string(body, paths.refusal));
        if REFUSED.contains(&&*stop) {
            answer.refusal.push_str(&stop);
        }
        let failed = if !answer.refusal.is_empty() {
            for path in paths.why {
                if let Some(why) = string_at(body, path) {
                    answer.refusal.push_str(": ");
                    answer.refusal.push_str(&why);
                }
            }
            Failure::new(self, FailureKind::Refused, &["refused to answer: ", &answer.refusal])
        } else if !answer.text.is_empty() {
            return Ok(Reply {
                text: if self.may_read_tokens() { tokens::mended(answer.text) } else { answer.text },
                usage,
                model_version: string_at(body, paths.model),
                truncated,
            });
        } else if truncated {
            Failure::new(self, FailureKind::Truncated, &["was cut off before it had said anything"])
                .with_help("Raise `maxOutputTokens` in judge_model_config, or let the model think less")
        } else {
            Failure::new(self, FailureKind::Empty, &["replied without any text"])
        };
        Err(failed.with_status(reply))
    }

    /// Whether the server may interpret control tokens in a message: Ollama, and any server at a custom URL.
    pub(super) fn may_read_tokens(&self) -> bool {
        self.provider == Provider::Ollama || self.base_url.is_some()
    }

    /// The model that a request asks.
    pub(super) fn model<'r>(&'r self, request: &Request<'r>) -> &'r str {
        self.model.as_deref().unwrap_or(request.model)
    }

    pub(super) fn request_headers(&self) -> Vec<(String, String)> {
        let mut headers: Vec<(String, String)> = Vec::new();
        let mut set = |name: &str, before: &str, value: &str| {
            let value = [before, value].concat();
            for header in &mut headers {
                if header.0.eq_ignore_ascii_case(name) {
                    header.1 = value;
                    return;
                }
            }
            headers.push((name.to_owned(), value));
        };
        set("content-type", "", "application/json");
        let (name, scheme) = match self.provider {
            _ if self.bearer.is_some() => ("authorization", "Bearer "),
            Provider::Gemini | Provider::Vertex => ("x-goog-api-key", ""),
            Provider::Anthropic if self.is_older_anthropic() => ("x-api-key", ""),
            _ => ("authorization", "Bearer "),
        };
        if let Some(credential) = self.bearer.as_ref().or(self.api_key.as_ref()) {
            set(name, scheme, credential);
        }
        if self.provider == Provider::Anthropic {
            set("anthropic-version", "", anthropic::VERSION);
            if self.in_browser {
                set("anthropic-dangerous-direct-browser-access", "", "true");
            }
        }
        for (name, value) in &self.headers {
            set(name, "", value);
        }
        headers
    }

    /// Whether a request lacks its token. A header set by the user counts as one.
    pub(super) fn needs_token(&self) -> bool {
        self.token_per_call
            && self.bearer.is_none()
            && !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
    }

    /// Whether the user chose the previous version of Anthropic's API.
    pub(super) fn is_older_anthropic(&self) -> bool {
        let older = |header: &(String, String)| {
            header.0.eq_ignore_ascii_case("anthropic-version") && header.1 == anthropic::OLDER_VERSION
        };
        self.provider == Provider::Anthropic && self.headers.iter().any(older)
    }

    /// The user's URL without its query, and the query.
    pub(super) fn base_and_query(&self) -> (&str, &str) {
        let base = self.base_url.as_deref().unwrap_or_default();
        base.split_once('?').unwrap_or((base, ""))
    }

    /// The user's base URL or the provider's own, with the version unless it is part of the URL.
    pub(super) fn base(&self, own: &str, version: &str) -> String {
        let mut base = match self.base_and_query().0 {
            "" => own,
            given => given,
        };
        while let Some(shorter) = base.strip_suffix('/') {
            base = shorter;
        }
        let slash = base.bytes().rposition(|byte| byte == b'/');
        let last = base.get(slash.map_or(0, |slash| slash + 1)..).unwrap_or_default();
        let versioned =
            version.is_empty() || last == version || matches!(last.as_bytes(), [b'v', b'0'..=b'9', ..]);
        if versioned { base.to_owned() } else { [base, "/", version].concat() }
    }
}

/// Shows no keys.
impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.provider.label())
    }
}

/// The stop reasons of models that reached a token limit, for all providers.
const CUT_OFF: [&str; 6] = [
    "MAX_TOKENS",
    "CONTINUATION",
    "length",
    "max_tokens",
    "max_output_tokens",
    "model_context_window_exceeded",
];

/// The stop reasons of models that were not allowed to continue, for all providers.
const REFUSED: [&str; 8] = [
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "content_filter",
    "refusal",
];

pub(super) fn is_credential(header: &str) -> bool {
    for name in ["authorization", "x-goog-api-key", "x-api-key", "api-key"] {
        if header.eq_ignore_ascii_case(name) {
            return true;
        }
    }
    false
}

/// Whether a non-empty text consists of lower-case ASCII letters, digits and the other given characters.
fn consists_of(text: &str, others: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || others.as_bytes().contains(&byte)
        })
}
