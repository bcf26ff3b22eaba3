// Makes PNG files small: what a browser's screenshot holds (8 bits a channel, RGB or RGBA, not interlaced) becomes at
// most 256 colours from a palette. Format: W3C PNG (Third Edition).

import { crc32, deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The same picture with at most 256 colours: its most frequent ones; every other becomes the nearest of these. */
export function paletted(png) {
  const { width, height, pixels } = decoded(png);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const palette = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 256)
    .map(([color]) => color);
  const indexOf = new Map(palette.map((color, at) => [color, at]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const color = pixels[y * width + x];
      if (!indexOf.has(color)) indexOf.set(color, nearest(palette, color));
      rows[y * (width + 1) + 1 + x] = indexOf.get(color);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flatMap(channels))),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const channels = (color) => [color >> 16, (color >> 8) & 255, color & 255];

function nearest(palette, color) {
  const [red, green, blue] = channels(color);
  let best = 0;
  let least = Infinity;
  for (const [at, one] of palette.entries()) {
    const [r, g, b] = channels(one);
    const distance = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
    if (distance < least) [best, least] = [at, distance];
  }
  return best;
}

function chunk(type, data) {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const whole = Buffer.alloc(typed.length + 8);
  whole.writeUInt32BE(data.length, 0);
  typed.copy(whole, 4);
  whole.writeUInt32BE(crc32(typed), typed.length + 4);
  return whole;
}

/** Each pixel as `0xRRGGBB`; what is transparent is not expected. */
function decoded(png) {
  const data = [];
  let header;
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    const content = png.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") header = content;
    if (type === "IDAT") data.push(content);
    at += length + 12;
  }
  const [width, height, depth, kind] = [header.readUInt32BE(0), header.readUInt32BE(4), header[8], header[9]];
  if (depth !== 8 || (kind !== 2 && kind !== 6)) throw new Error("This is no screenshot.");
  const size = kind === 2 ? 3 : 4;
  const bytes = inflateSync(Buffer.concat(data));
  const stride = width * size;
  const pixels = new Uint32Array(width * height);
  let above = new Uint8Array(stride);
  for (let y = 0; y < height; y += 1) {
    const filter = bytes[y * (stride + 1)];
    const row = Uint8Array.from(bytes.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1)));
    for (let x = 0; x < stride; x += 1) {
      const left = x < size ? 0 : row[x - size];
      row[x] += predicted(filter, left, above[x], x < size ? 0 : above[x - size]);
    }
    for (let x = 0; x < width; x += 1) {
      pixels[y * width + x] = (row[x * size] << 16) | (row[x * size + 1] << 8) | row[x * size + 2];
    }
    above = row;
  }
  return { width, height, pixels };
}

/** What a filter of PNG takes a byte for. */
function predicted(filter, left, above, corner) {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  if (filter !== 4) return 0;
  const guess = left + above - corner;
  const [a, b, c] = [left, above, corner].map((one) => Math.abs(guess - one));
  return a <= b && a <= c ? left : b <= c ? above : corner;
}
