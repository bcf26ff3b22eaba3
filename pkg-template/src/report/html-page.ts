/** What all pages have around their contents. */

import { escaped, html, ICONS, Markup } from "./html-markup.js";
import { STYLE, STYLE_HASH } from "../generated/styles.js";
import { head, visible } from "./text.js";

/** A stylesheet with the hash by which the page's policy allows it. */
export interface Stylesheet {
  text: string;
  hash: string;
}

/** What is on a page. */
export interface PageParts {
  title: string;
  /** Those that it has besides the one of every page. */
  styles: readonly Stylesheet[];
  /** Below the title. */
  header: Markup;
  main: Iterable<string>;
  footer: readonly string[];
}

/** A page in pieces, whose policy forbids everything but its own stylesheets. */
export function* pagePieces({ title, styles, header, main, footer }: PageParts): Generator<string> {
  const hashes = [STYLE_HASH, ...styles.map(({ hash }) => hash)].map((hash) => `'${hash}'`).join(" ");
  const policy = `default-src 'none'; style-src ${hashes}; base-uri 'none'; form-action 'none'`;
  yield html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Markup(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="adk-metrics">
<title>${new Markup(escaped(visible(head(title, 200))))}</title>
<style>${new Markup(STYLE)}</style>${styles.map(({ text }) => html`\n<style>${new Markup(text)}</style>`)}
</head>
<body>
${ICONS}
<header class="page">
<h1>${head(title, 200)}</h1>
${header}
</header>
<main>
`.text;
  yield* main;
  yield html`
</main>
<footer><div class="page">${footer.map((line) => html`<p>${line}</p>`)}</div></footer>
</body>
</html>
`.text;
}
