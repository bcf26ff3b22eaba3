//! What judges are asked, and what their replies say.

mod calls;
mod evidence;
mod prompts;
mod providers;
mod quotations;
mod replies;
mod schemas;
mod votes;
