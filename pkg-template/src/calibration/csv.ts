/** Reads CSV as spreadsheets write it (RFC 4180), also with semicolons or tabs between cells. */

/** A row with the line on which it begins, counted from 1. */
export interface CsvRow {
  line: number;
  cells: string[];
}

/**
 * The rows of a text, without those that have nothing in any cell. The separator is the one that its first line has most of.
 *
 * @param refuse Called with the line of a quote that is not closed, or not at the end of its cell: no rows can be read after it.
 */
export function readCsv(text: string, refuse: (line: number) => Error): CsvRow[] {
  const firstLine = text.slice(0, text.search(/[\r\n]|$/));
  const separator = [",", ";", "\t"].reduce((best, one) =>
    firstLine.split(one).length > firstLine.split(best).length ? one : best,
  );
  const rows: CsvRow[] = [];
  let row: CsvRow = { line: 1, cells: [] };
  let line = 1;
  let cell = "";
  let isQuoted = false;
  let quotedFrom = 0;
  const endCell = () => {
    row.cells.push(cell);
    cell = "";
  };
  const endRow = () => {
    endCell();
    if (row.cells.some((one) => one.trim() !== "")) rows.push(row);
    row = { line, cells: [] };
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === "\n") line += 1;
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else if (/[^\s,;]/.test(text[at + 1] ?? "")) throw refuse(quotedFrom);
      else isQuoted = false;
    } else if (character === '"' && cell === "") {
      isQuoted = true;
      quotedFrom = line;
    } else if (character === separator) endCell();
    else if (character === "\n") endRow();
    else if (character !== "\r" || text[at + 1] !== "\n") cell += character;
  }
  if (isQuoted) throw refuse(quotedFrom);
  endRow();
  return rows;
}
