// Node only: no bundle for browsers may reach this file.
import type { FileHandle } from "node:fs/promises";

/**
 * Reads a file that may be larger than the system says: some of `/proc` are regular files that say they are empty, and never
 * end.
 *
 * @param size What the system says.
 * @returns Nothing if it has more bytes than `most`.
 */
export async function readAtMost(file: FileHandle, size: number, most: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  for (let length = 0; length <= most;) {
    // A byte more than there should be, so that one more read finds the end.
    const piece = Buffer.allocUnsafe(Math.max(size - length + 1, 1 << 16));
    const { bytesRead } = await file.read(piece, 0, piece.length, null);
    if (bytesRead === 0) return Buffer.concat(pieces);
    length += bytesRead;
    pieces.push(piece.subarray(0, bytesRead));
  }
  return undefined;
}
