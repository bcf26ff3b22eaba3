/**
 * The stylesheets of the HTML report: that of every page, and that of what judges had a part in, which other pages do
 * without. The page's content security policy allows these, by their hashes, and nothing else; a test holds each hash
 * to its text and says what it should be.
 */

/** SHA-256 of {@link STYLE}, as a content security policy writes it. */
export const STYLE_HASH = "sha256-2JfiqWUScwcr9q0xPCbAKI1ifk46dQkurey/OPxGAYs=";

export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --sunken: #f6f7f9; --line: #e2e5ea; --strong-line: #c6cbd4; --under: var(--page); --shade: #d3d8e0;
  --text: #16181d; --muted: #596070; --accent: #2b50c8; --accent-soft: #eaeffc;
  --pass: #0a6b3f; --pass-fill: #2f9e6b; --pass-soft: #e6f4ec;
  --fail: #b02a20; --fail-fill: #d8584d; --fail-soft: #fcecea;
  --open: #7d5200; --open-fill: #c08a1e; --open-soft: #faf1de; --changed: #f5dda2;
  --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Liberation Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #101216; --sunken: #181b21; --line: #2a2e37; --strong-line: #454b58; --shade: #474e5c;
    --text: #e7e9ee; --muted: #9ba3b2; --accent: #9db4ff; --accent-soft: #1a2238;
    --pass: #63cf9b; --pass-fill: #3fa877; --pass-soft: #14291f;
    --fail: #ff9a90; --fail-fill: #d9635a; --fail-soft: #341a19;
    --open: #e6b75c; --open-fill: #b98a2f; --open-soft: #2e2412; --changed: #57421a;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font: 0.875rem/1.5 var(--sans); font-variant-numeric: tabular-nums; }
h1, h2, h3, h4, h5, p, ul, dl, dd, table, fieldset { margin: 0; padding: 0; }
h1 { font-size: 1.375rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.012em; }
h2 { font-size: 1.125rem; line-height: 1.35; font-weight: 650; letter-spacing: -0.006em; overflow-wrap: anywhere; }
h3 { font: inherit; font-weight: 500; overflow-wrap: anywhere; }
h4 { font-size: 0.875rem; font-weight: 650; }
h5, caption, .label { font-size: 0.75rem; line-height: 1.5; font-weight: 500; color: var(--muted); text-align: start; }
ul { list-style: none; }
code { font-family: var(--mono); font-size: 0.8125rem; }
a { color: var(--accent); text-underline-offset: 0.2em; text-decoration-thickness: 1px; overflow-wrap: anywhere; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.vh { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (min-width: 60.01rem) { .unit { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; } }
.page { max-width: 76rem; margin: 0 auto; padding: 0 1.5rem; }
.num { text-align: end; white-space: nowrap; }
.muted { color: var(--muted); }
.passed { --tone: var(--pass); --fill: var(--pass-fill); --soft: var(--pass-soft); }
.failed { --tone: var(--fail); --fill: var(--fail-fill); --soft: var(--fail-soft); }
.unknown { --tone: var(--open); --fill: var(--open-fill); --soft: var(--open-soft); }
.added { --tone: var(--accent); --fill: var(--accent); --soft: var(--accent-soft); }
.same { --tone: var(--muted); }
.tone { color: var(--tone); }
.icon { width: 1rem; height: 1rem; flex: none; color: var(--tone); vertical-align: -0.1875rem; }
.stand-in { font-family: var(--mono); font-size: 0.85em; color: var(--muted); border: 1px solid var(--line); border-radius: 3px; padding: 0 0.2em; unicode-bidi: isolate; }

header.page { padding-top: 2.5rem; padding-bottom: 1.75rem; }
.sub { margin-top: 0.25rem; color: var(--muted); }
.figures { display: flex; flex-wrap: wrap; gap: 0.5rem 2.5rem; margin-top: 1.5rem; }
.figures div { display: flex; flex-direction: column-reverse; }
.figures dt { color: var(--muted); }
.figures dd { font-size: 1.75rem; line-height: 1.2; font-weight: 600; letter-spacing: -0.02em; }
.figures .zero dd { color: var(--muted); font-weight: 400; }
.share { display: block; width: 100%; height: 0.5rem; margin-top: 1rem; border-radius: 0.25rem; background: var(--line); }
.share rect.passed, .bins rect.passed { fill: var(--pass-fill); }
.share rect.failed, .bins rect.failed { fill: var(--fail-fill); }
.share rect.unknown { fill: var(--open-fill); }

.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th { font-weight: 500; text-align: start; }
thead th { font-size: 0.75rem; color: var(--muted); white-space: nowrap; }
thead th.num { text-align: end; }
.grid th, .grid td { padding: 0.4375rem 1.5rem 0.4375rem 0; border-bottom: 1px solid var(--line); vertical-align: middle; }
.grid th:last-child, .grid td:last-child { padding-inline-end: 0; }
.grid tbody th { font-weight: 400; overflow-wrap: break-word; }
.grid.sets { margin-top: 1.75rem; }
.grid.sets tbody th { width: 50%; }
.grid.stack tbody th { min-width: 12rem; }
.result { white-space: nowrap; }
.grid .why td { padding-top: 0; color: var(--muted); }
.grid tr:has(+ .why) > * { border-bottom: 0; }

.filter { position: sticky; top: 0; z-index: 2; background: var(--page); border-bottom: 1px solid var(--line); }
.filter fieldset { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem; border: 0; padding: 0.5rem 0; }
.filter label { position: relative; padding: 0.25rem 0.75rem; border-radius: 1rem; color: var(--muted); cursor: pointer; white-space: nowrap; }
.filter label:hover { color: var(--text); background: var(--sunken); }
.filter input { position: absolute; inset: 0; margin: 0; opacity: 0; cursor: pointer; }
.filter label:has(:checked) { background: var(--text); color: var(--page); }
.filter label:has(:focus-visible) { outline: 2px solid var(--accent); outline-offset: 2px; }
.filter b { font-weight: 600; margin-inline-start: 0.25rem; }
body:has(#show-failed:checked) .case:not(.failed),
body:has(#show-unknown:checked) .case:not(.unknown),
body:has(#show-passed:checked) .case:not(.passed),
.none, body:has(#show-all:checked) .none { display: none; }
body:has(#show-failed:checked) .none.failed,
body:has(#show-unknown:checked) .none.unknown,
body:has(#show-passed:checked) .none.passed { display: block; }

.set { padding-top: 2.25rem; }
.set > .sub { margin-bottom: 1rem; }
.notice { margin: 0 0 1rem; padding: 0.5rem 0.75rem; border-inline-start: 3px solid var(--open-fill); background: var(--open-soft); overflow-wrap: anywhere; }
.notice + .notice { margin-top: -0.5rem; }
.figures + .notice { margin-top: 0.75rem; }
.notice p + p { color: var(--muted); }
.bins { display: block; width: 10rem; height: 1.75rem; }
.bins .axis { stroke: var(--strong-line); }
.bar { display: block; width: 8rem; height: 0.5rem; }
.bar .track { fill: var(--line); }
.bar .value { fill: var(--fill); }
.threshold { stroke: var(--text); stroke-width: 2; }

.cases { margin-top: 1.5rem; }
.columns, .case > summary { display: grid; grid-template-columns: 1rem 1rem minmax(8rem, 1fr) auto 4.5rem; gap: 0 0.75rem; align-items: center; padding: 0.5rem; }
.columns { padding-bottom: 0.25rem; border-bottom: 1px solid var(--line); font-size: 0.75rem; font-weight: 500; color: var(--muted); }
.columns > :first-child { grid-column: 1 / 4; padding-inline-start: 0; }
.cells { display: grid; grid-auto-flow: column; grid-auto-columns: 11.5rem; gap: 0.75rem; }
.cells > * { text-align: end; overflow-wrap: anywhere; }
.cells.why { grid-auto-columns: minmax(0, 34rem); }
.cells .metric { display: none; }
.cells .off { font-weight: 600; color: var(--tone); }
.turns { text-align: end; color: var(--muted); white-space: nowrap; }
.case { border-bottom: 1px solid var(--line); content-visibility: auto; contain-intrinsic-size: auto 2.375rem; }
.case > summary { cursor: pointer; list-style: none; border-radius: 6px; }
.case > summary::-webkit-details-marker { display: none; }
.case > summary:hover { background: var(--sunken); }
.case > summary:focus-visible { outline-offset: -2px; }
.chevron { width: 0.75rem; height: 0.75rem; color: var(--muted); transition: transform 120ms; }
details[open] > summary > .chevron { transform: rotate(90deg); }
.case.failed > summary h3, .case[open] > summary h3 { font-weight: 600; }
.panel { padding: 0.5rem 0.5rem 2rem 4rem; display: grid; gap: 1.25rem; grid-template-columns: minmax(0, 1fr); }
.reason { padding: 0.625rem 0.75rem; border-radius: 6px; background: var(--soft); overflow-wrap: anywhere; }
.whys { display: grid; gap: 0.5rem; max-width: 60rem; overflow-wrap: anywhere; }
.whys li { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 0.5rem; }
.whys .icon { margin-top: 0.1875rem; }
.score { font-weight: 600; }
.facts { display: flex; flex-wrap: wrap; gap: 0.25rem 2rem; }
.facts div { display: flex; gap: 0.5rem; }
.facts dt, .facts small { color: var(--muted); font-size: inherit; }
.rubrics { display: grid; gap: 0.25rem; overflow-wrap: anywhere; }
.rubrics b { font-weight: 550; color: var(--text); }

.turn { border-top: 1px solid var(--line); padding-top: 1rem; display: grid; gap: 0.875rem; grid-template-columns: minmax(0, 1fr); }
.turn-head { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; align-items: baseline; }
summary.turn-head { align-items: center; gap: 0 0.5rem; cursor: pointer; list-style: none; border-radius: 4px; }
summary.turn-head::-webkit-details-marker { display: none; }
summary.turn-head .icon, summary.turn-head .chevron { margin-top: 0; }
details.turn { display: block; }
.turn-body { display: grid; gap: 0.875rem; grid-template-columns: minmax(0, 1fr); padding-top: 0.875rem; }
.chips { display: flex; flex-wrap: wrap; gap: 0.125rem 1.25rem; color: var(--muted); overflow-wrap: anywhere; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; max-width: 46rem; }
.tall { max-height: 24.75em; overflow-y: auto; scrollbar-width: thin; scrollbar-color: var(--strong-line) transparent; background: linear-gradient(var(--under) 40%, transparent) top / 100% 2.5rem local no-repeat, linear-gradient(transparent, var(--under) 60%) bottom / 100% 2.5rem local no-repeat, linear-gradient(var(--shade), transparent) top / 100% 0.875rem no-repeat, linear-gradient(transparent, var(--shade)) bottom / 100% 0.875rem no-repeat; }
.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; }
.pair.alone { grid-template-columns: minmax(0, 1fr); }
.said { min-width: 0; }
.pair .said { --under: var(--sunken); background: var(--sunken); border-radius: 6px; padding: 0.625rem 0.875rem 0.75rem; }
mark { color: var(--text); background: var(--changed); box-shadow: inset 0 -1px var(--open-fill); border-radius: 2px 2px 0 0; }
.cut { display: block; margin-top: 0.5rem; color: var(--muted); font-size: 0.75rem; }
.legend { margin-top: 0.375rem; color: var(--muted); font-size: 0.75rem; }

.calls { table-layout: fixed; }
.calls caption { padding-bottom: 0.25rem; }
.calls .kind { width: 6.5rem; }
.calls td, .calls th { padding: 0.5rem 0.75rem 0.5rem 0; vertical-align: top; border-top: 1px solid var(--line); }
.calls thead th { border-top: 0; padding-block: 0 0.25rem; }
.calls tbody th { font-size: 0.8125rem; color: var(--tone); white-space: nowrap; }
.calls tbody th > span { display: inline-block; width: 1.125rem; font-family: var(--mono); }
.calls tbody th small { display: block; font-size: 0.75rem; font-weight: 400; white-space: normal; color: var(--muted); padding-inline-start: 1.125rem; }
.calls td:not(:last-child) { padding-inline-end: 1.25rem; }
.calls tr.off td:not(:empty) { background: var(--soft); }
.calls td { padding-inline-start: 0.75rem; }
.calls thead th:not(.kind) { padding-inline-start: 0.75rem; }
.call, .arg { display: block; overflow-wrap: anywhere; white-space: pre-wrap; }
.call b { font-weight: 600; }
.arg { padding-inline-start: 2.25em; text-indent: -1.125em; color: var(--muted); }
.arg .value { color: var(--text); }
.gave { margin: 0.25rem 0 0 0.9375rem; font-family: var(--mono); font-size: 0.8125rem; overflow-wrap: anywhere; color: var(--muted); }
.gave.failed { color: var(--tone); }
.nested { padding: 0.375rem 0 0 0.9375rem; color: var(--muted); }
.nested code { overflow-wrap: anywhere; color: var(--text); }
.events > summary { display: inline-flex; align-items: center; gap: 0.375rem; cursor: pointer; list-style: none; border-radius: 4px; }
.events > summary:hover { color: var(--accent); }
.events > summary::-webkit-details-marker { display: none; }
.events > summary small { font-size: 0.75rem; color: var(--muted); }
.events .chevron { margin-top: 0; }
.events ol { margin: 0.375rem 0 0; padding: 0; list-style: none; border-inline-start: 2px solid var(--line); padding-inline-start: 0.875rem; }
.events li { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: 0 0.75rem; padding-block: 0.25rem; }
.events li.call:not(:first-child), .events li.text:not(:first-child), .events li.thought:not(:first-child) { margin-top: 0.25rem; }
.events li .label { padding-top: 0.1rem; overflow-wrap: anywhere; }
.events li small { display: block; font-size: 0.75rem; }
.link { font-size: 0.75rem; }
.link a { color: var(--muted); }
.none { padding: 0.625rem 0.5rem; }
footer { margin-top: 3.5rem; padding-block: 1.25rem 2.5rem; color: var(--muted); border-top: 1px solid var(--line); }

@media (max-width: 60rem) {
  .grid th, .grid td { padding-inline-end: 0.875rem; }
  .columns { display: none; }
  .cases { border-top: 1px solid var(--line); }
  .case > summary { grid-template-columns: 1rem 1rem minmax(0, 1fr) auto; align-items: start; }
  .chevron, .icon { margin-top: 0.1875rem; }
  .case > summary .cells { grid-row: 2; grid-column: 3 / 5; grid-auto-flow: row; grid-auto-columns: auto; gap: 0; color: var(--muted); font-size: 0.8125rem; }
  .case > summary .turns { grid-row: 1; grid-column: 4; }
  .cells > * { text-align: start; }
  .cells .metric { display: inline; font-weight: 400; color: var(--muted); }
  .panel { padding-inline-start: 2.25rem; }
}
@media (max-width: 40rem) {
  .page { padding-inline: 1rem; }
  header.page { padding-top: 1.5rem; }
  .figures { gap: 0.5rem 1.75rem; }
  .panel { padding-inline: 0; }
  .pair { grid-template-columns: minmax(0, 1fr); }
  .filter fieldset { gap: 0; margin-inline: -0.5rem; }
  .filter label { padding-inline: 0.5625rem; font-size: 0.8125rem; }
  .filter b { margin-inline-start: 0; }
  .grid.sets th, .grid.sets td { padding-inline-end: 0.875rem; }
  .grid.sets tbody th { width: auto; min-width: 7rem; overflow-wrap: anywhere; }
  .stack, .stack tbody { display: block; }
  .stack thead { position: absolute; clip-path: inset(50%); }
  .stack tr { display: flex; flex-wrap: wrap; gap: 0.125rem 1.25rem; align-items: center; padding-block: 0.625rem; border-bottom: 1px solid var(--line); }
  .stack tbody th, .stack tbody td { border: 0; padding: 0; }
  .stack tbody th, .stack .wide, .stack .why td { flex: 0 0 100%; }
  .stack tr:has(+ .why) { border-bottom: 0; padding-bottom: 0.25rem; }
  .stack .why { padding-top: 0; }
  .stack .wide:empty { display: none; }
  .stack td[data-label]::before { content: attr(data-label) " "; font-weight: 400; color: var(--muted); }
  .bins, .bar { margin-block: 0.25rem; }
  .calls, .calls tbody, .calls tr, .calls td, .calls tbody th { display: block; width: auto; }
  .calls caption { display: block; }
  .calls thead { position: absolute; clip-path: inset(50%); }
  .calls tr { border-top: 1px solid var(--line); padding-block: 0.5rem; }
  .calls td, .calls tbody th { border-top: 0; padding: 0.125rem 0; }
  .calls tbody th small { display: inline; }
  .calls td:empty { display: none; }
  .calls tr.off td { padding: 0.375rem 0.625rem; border-radius: 4px; margin-top: 0.25rem; }
  .calls td[data-side]:not(:empty)::before { content: attr(data-side); display: block; font-size: 0.75rem; color: var(--muted); }
  .nested { padding-inline-start: 0; }
  .events li { grid-template-columns: minmax(0, 1fr); }
  .events li small { display: inline; margin-inline-start: 0.5rem; }
}
@media (min-width: 100rem) { .page { max-width: 88rem; } }
@media (prefers-reduced-motion: reduce) { .chevron { transition: none; } }
@media (forced-colors: active) {
  .filter label:has(:checked) { outline: 2px solid; }
  mark { text-decoration: underline; }
}
@media print {
  .filter { display: none; }
  .case { content-visibility: visible; }
  .case::details-content, .turn::details-content { content-visibility: visible; display: block; }
}
.reliability { margin-top: 16px; }
.reliability summary { cursor: pointer; }
.reliability .scroll { margin-top: 12px; }
`;

/** SHA-256 of {@link JUDGED_STYLE}, as a content security policy writes it. */
export const JUDGED_STYLE_HASH = "sha256-brjP7tqh8IeuHdwHyN0KJie/pUEpnfJYKjnlOz2IgaE=";

export const JUDGED_STYLE = `
.judges { margin: 0 0 1.25rem; display: grid; gap: 0.375rem; }
.stamps > summary, .raw > summary { display: inline-flex; align-items: center; gap: 0.375rem; cursor: pointer; list-style: none; color: var(--muted); border-radius: 4px; }
.stamps > summary:hover, .raw > summary:hover { color: var(--text); }
.stamps > summary::-webkit-details-marker, .raw > summary::-webkit-details-marker, .vote > summary::-webkit-details-marker { display: none; }
.stamps .grid { margin: 0.5rem 0 0.75rem; }
.stamps li { overflow-wrap: anywhere; }
.judged .icon, .judged .chevron, .stamps .chevron { margin-top: 0; }

.judged { display: grid; gap: 0.625rem; grid-template-columns: minmax(0, 1fr); border-top: 1px solid var(--line); padding-top: 0.75rem; }
.turn > h4 + .judged { border-top: 0; padding-top: 0; }
.judged-head { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline; }
.judged-head h5 { font-weight: 600; color: var(--text); overflow-wrap: anywhere; }
.judged-head p { display: flex; flex-wrap: wrap; gap: 0 1rem; font-size: 0.75rem; color: var(--muted); }
h6 { margin: 0; font-size: 0.75rem; line-height: 1.5; font-weight: 500; color: var(--muted); }

.votes { display: flex; flex-wrap: wrap; gap: 0.375rem; margin: 0; padding: 0; list-style: none; }
.votes li { min-width: 0; }
.votes li:has(> [open]) { flex: 0 0 100%; }
.votes .told { flex: 0 0 100%; display: grid; grid-template-columns: minmax(6.75rem, max-content) minmax(0, 1fr); gap: 0 0.75rem; padding-block: 0.375rem; }
.told small { font-size: 0.75rem; color: var(--muted); }
.told .raw { display: inline-block; margin: 0 1rem 0 0; max-width: 100%; vertical-align: text-bottom; }
.told .raw[open] { display: block; }
.vote > summary { display: inline-flex; align-items: center; gap: 0.375rem; min-height: 1.75rem; padding: 0 0.625rem 0 0.5rem; border: 1px solid var(--line); border-radius: 6px; cursor: pointer; list-style: none; font-size: 0.8125rem; white-space: nowrap; }
.vote > summary:hover, .vote[open] > summary { background: var(--sunken); border-color: var(--strong-line); }
.vote small { font-size: 0.75rem; color: var(--muted); }
.vote small::before { content: "· "; }
.replied { --under: var(--sunken); margin: 0.375rem 0 0.5rem; padding: 0.5rem 0.875rem 0.75rem; border-radius: 6px; background: var(--sunken); }
.reply { margin: 0.25rem 0 0; font-family: var(--mono); font-size: 0.8125rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.reply.tall { max-height: 30.75em; }
.raw { margin-top: 0.375rem; }
.raw > summary { font-size: 0.75rem; }

.findings .kind { width: 9.5rem; }
.findings td { overflow-wrap: anywhere; }
.findings td p { white-space: pre-wrap; }
.findings td b { font-weight: 600; }
.findings b + p { color: var(--muted); }
.told .chip, .findings tbody th > .chip { display: inline-flex; align-items: center; gap: 0.3125rem; width: auto; padding: 0.0625rem 0.5rem 0.0625rem 0.375rem; border-radius: 4px; font-family: inherit; font-size: 0.8125rem; font-weight: 500; white-space: normal; color: var(--tone); background: var(--soft); }
.findings tbody th > .chip.same { padding-inline: 0.5rem; background: var(--sunken); }
.findings tbody th > small { padding: 0.25rem 0 0 0.125rem; }
.excerpt { margin-top: 0.375rem; padding-inline-start: 0.625rem; border-inline-start: 2px solid var(--strong-line); }
.excerpt q { quotes: none; white-space: pre-wrap; }

@media (max-width: 40rem) {
  .findings tr { padding-block: 0.75rem; }
  .findings tbody th > small { padding: 0 0 0 0.5rem; }
}
@media print { .vote > summary { border: 0; padding-inline-start: 0; } }
`;

/** SHA-256 of {@link ESTIMATES_STYLE}, as a content security policy writes it. */
export const ESTIMATES_STYLE_HASH = "sha256-poQiL6Xj6Q1JGC294eWLCArhkFyIr/0S4PsiUAft9Q8=";

/** Of comparisons and calibrations: where estimates lie. */
export const ESTIMATES_STYLE = `
.interval { display: block; width: 10rem; height: 1rem; color: var(--tone, var(--accent)); }
.interval .axis { stroke: var(--line); }
.interval .zero { stroke: var(--strong-line); stroke-dasharray: 2 2; }
.interval .reach { fill: none; stroke: currentColor; stroke-width: 2; }
.interval circle { fill: currentColor; }
.lead { max-width: 46rem; margin-bottom: 0.75rem; overflow-wrap: anywhere; }
.set h3 { margin: 1.75rem 0 0.5rem; font-size: 0.9375rem; font-weight: 650; }
.set > h2 + .lead { margin-top: 0.5rem; }
.sign { display: inline-block; width: 1.25rem; font-weight: 650; }
.change { white-space: nowrap; }
.grid b { font-weight: 600; }
.why ul { display: grid; gap: 0.125rem; overflow-wrap: anywhere; }
.estimates td:last-child { min-width: 18rem; color: var(--muted); }
.confusion { width: auto; margin-bottom: 1rem; }
.confusion td { width: 11rem; padding: 0.75rem 1rem; border: 1px solid var(--line); background: var(--soft); }
.confusion td b { display: block; font-size: 1.25rem; line-height: 1.3; color: var(--tone); }
.confusion th { padding: 0.375rem 1rem 0.375rem 0; }
.confusion thead th { padding-inline-start: 1rem; }
.curve { display: block; width: 100%; max-width: 34rem; height: auto; margin-bottom: 0.5rem; font-size: 0.6875rem; }
.curve text { fill: var(--muted); }
.curve .axis { fill: none; stroke: var(--line); }
.curve .line { fill: none; stroke: var(--accent); stroke-width: 2; }
.curve .foreseen { stroke-dasharray: 4 4; }
.curve circle { fill: var(--accent); }
.curve circle.foreseen { fill: var(--page); stroke: var(--accent); stroke-width: 1.5; stroke-dasharray: none; }
.disagreements li { padding-block: 0.5rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.disagreements p { color: var(--muted); max-width: 46rem; }
@media (max-width: 40rem) {
  .estimates td:last-child { min-width: 0; flex: 0 0 100%; }
  .confusion td { width: auto; }
}
`;
