/**
 * The histograms as a self-contained image for documents and chats: it has its own background and colours, loads nothing,
 * and also distinguishes failed from passed by hatching.
 */

import { EvalStatus } from "../../enums.js";
import type { RunSummary, Verdicts } from "../../worker/protocol.js";
import { amountText, count, head } from "../../ui/format.js";
import { titleOf } from "../../ui/set-label.js";
import { visibleText } from "../../ui/text.js";
import { BINS, type Scale, shareOf, type Spread } from "../../worker/scale.js";

const CELL = { width: 300, height: 150, gap: 20 };
/** The height of the caption above the histograms. */
const CAPTION_HEIGHT = 34;
/** The longest name that fits, in characters. */
const MAX_NAME_LENGTH = 40;
const MAX_COLUMNS = 3;
const PLOT = { top: 28, height: 84 };
const FONT = "system-ui, sans-serif";
const COLORS = {
  page: "#ffffff",
  text: "#16181d",
  muted: "#596070",
  line: "#8a92a1",
  pass: "#2f9e6b",
  fail: "#d8584d",
};

/** An SVG of the histograms of all metrics that have a threshold. */
export function chartOf(run: RunSummary, verdicts: Verdicts, thresholds: ReadonlyMap<string, number>): string {
  const columns = run.metrics.flatMap(({ threshold }, column) => (threshold === undefined ? [] : [column]));
  const columnCount = Math.min(MAX_COLUMNS, Math.max(1, columns.length));
  const width = columnCount * (CELL.width + CELL.gap) + CELL.gap;
  const height = Math.ceil(columns.length / columnCount) * (CELL.height + CELL.gap) + CAPTION_HEIGHT;
  const cells = columns.map((column, at) => {
    const x = CELL.gap + (at % columnCount) * (CELL.width + CELL.gap);
    const y = CAPTION_HEIGHT + Math.floor(at / columnCount) * (CELL.height + CELL.gap);
    return `<g transform="translate(${x} ${y})">${histogram(run, verdicts, column, thresholds)}</g>`;
  });
  const caption = captionOf(run, verdicts);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">` +
    `<title>${escaped(caption)}</title><defs><pattern id="failed" width="5" height="5" patternUnits="userSpaceOnUse">` +
    `<path d="M0 0h5v5h-5z" fill="${COLORS.fail}"/><path d="M-1 1l2-2M0 5l5-5M4 6l2-2" stroke="${COLORS.page}"/>` +
    `</pattern></defs><rect width="100%" height="100%" fill="${COLORS.page}"/>` +
    `${text(CELL.gap, CELL.gap, caption, COLORS.muted, "start")}${cells.join("")}</svg>`
  );
}

function captionOf({ sets }: RunSummary, { cases }: Verdicts): string {
  const [first] = sets;
  const name = sets.length === 1 && first !== undefined ? truncate(titleOf(first)) : count(sets.length, "evalset");
  const passed = cases.reduce((sum, status) => sum + Number(status === EvalStatus.PASSED), 0);
  return `${name}: ${passed} of ${count(cases.length, "case")} passed`;
}

function histogram(run: RunSummary, verdicts: Verdicts, column: number, thresholds: ReadonlyMap<string, number>) {
  const { name, threshold: ownThreshold } = run.metrics[column] ?? { name: "" };
  const scale = run.scales[column] as Scale;
  const { passed, failed, others: informational } = verdicts.spreads[column] as Spread;
  const others = failed.map((amount, bin) => amount + (informational[bin] ?? 0));
  const highest = Math.max(1, ...passed.map((amount, bin) => amount + (others[bin] ?? 0)));
  const bar = CELL.width / BINS;
  const base = PLOT.top + PLOT.height;
  const bars = passed.map((amount, bin) => {
    const [good, bad] = [amount, others[bin] ?? 0].map((count) => (count / highest) * PLOT.height) as [number, number];
    const at = `x="${(bin * bar).toFixed(1)}" width="${(bar - 1).toFixed(1)}"`;
    return (
      `<rect ${at} y="${(base - good).toFixed(1)}" height="${good.toFixed(1)}" fill="${COLORS.pass}"/>` +
      `<rect ${at} y="${(base - good - bad).toFixed(1)}" height="${bad.toFixed(1)}" fill="url(#failed)"/>`
    );
  });
  const threshold = thresholds.get(name) ?? ownThreshold;
  const sum = (bins: readonly number[]) => bins.reduce((all, one) => all + one, 0);
  const x = threshold === undefined ? 0 : shareOf(scale, threshold) * CELL.width;
  const line =
    threshold === undefined
      ? ""
      : `<path d="M${x.toFixed(1)} ${PLOT.top - 4}V${base}" stroke="${COLORS.text}" stroke-width="2"/>`;
  return [
    text(0, 14, truncate(name), COLORS.text, "start", 600),
    ...bars,
    `<path d="M0 ${base + 0.5}H${CELL.width}" stroke="${COLORS.line}"/>`,
    line,
    text(0, base + 16, amountText(scale.min), COLORS.muted, "start"),
    text(CELL.width, base + 16, amountText(scale.max), COLORS.muted, "end"),
    text(
      CELL.width / 2,
      base + 16,
      `${sum(passed)} pass, ${sum(others)} fail${threshold === undefined ? "" : `, threshold ${amountText(threshold)}`}`,
      COLORS.muted,
      "middle",
    ),
  ].join("");
}

function text(x: number, y: number, content: string, fill: string, anchor: string, weight = 400): string {
  return (
    `<text x="${x}" y="${y}" fill="${fill}" text-anchor="${anchor}" font-family="${FONT}" font-size="12" ` +
    `font-weight="${weight}">${escaped(content)}</text>`
  );
}

function truncate(name: string): string {
  return name.length > MAX_NAME_LENGTH ? `${head(name, MAX_NAME_LENGTH - 1)}…` : name;
}

/** Escapes text for XML and replaces characters that are invalid in XML. */
function escaped(content: string): string {
  return visibleText(content).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** The image as PNG, at twice the resolution. */
export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * 2;
    canvas.height = image.naturalHeight * 2;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob(
        (blob) => (blob === null ? reject(new Error("The image is too large.")) : resolve(blob)),
        "image/png",
      );
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}
