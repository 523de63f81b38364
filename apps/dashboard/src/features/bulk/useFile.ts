import { useCallback, useState } from "react";
import { sha256 } from "./batch.ts";
import type { Separator, Table } from "./csv.ts";
import { mostRows } from "./rows.ts";

/** A file that was chosen and read. */
export type CsvFile = { name: string; hash: string; headersHash: string; table: Table; separator: Separator };
export type FileTrouble =
  | { kind: "empty" | "tooLarge" | "unreadable" }
  | { kind: "tooMany"; count: number }
  | { kind: "quotes"; row: number };

const mostBytes = 20 * 1024 * 1024;

/** Reads a file in this browser; the parser comes only now. */
export function useFile() {
  const [file, setFile] = useState<CsvFile | null>(null);
  const [trouble, setTrouble] = useState<FileTrouble | null>(null);
  const [reading, setReading] = useState(false);

  const read = useCallback(async (chosen: File) => {
    setFile(null);
    setTrouble(null);
    if (chosen.size > mostBytes) return setTrouble({ kind: "tooLarge" });
    setReading(true);
    try {
      const bytes = new Uint8Array(await chosen.arrayBuffer());
      const [{ decode, readCsv }, hash] = await Promise.all([import("./csv.ts"), sha256(bytes)]);
      const { separator, broken, ...table } = readCsv(decode(bytes));
      const count = table.rows.filter(({ cells }) => cells.some((cell) => cell.trim() !== "")).length;
      if (broken !== null) setTrouble({ kind: "quotes", row: broken });
      else if (count === 0) setTrouble({ kind: "empty" });
      else if (count > mostRows) setTrouble({ kind: "tooMany", count });
      else
        setFile({
          name: chosen.name,
          hash,
          headersHash: await sha256(JSON.stringify(table.headers)),
          table,
          separator,
        });
    } catch (error) {
      console.error(error);
      setTrouble({ kind: "unreadable" });
    } finally {
      setReading(false);
    }
  }, []);

  const drop = useCallback(() => {
    setFile(null);
    setTrouble(null);
  }, []);

  return { file, trouble, reading, read, drop };
}

/** Gives the person a table as a file. */
export async function download(name: string, headers: readonly string[], rows: readonly (readonly string[])[]) {
  const { writeCsv } = await import("./csv.ts");
  const url = URL.createObjectURL(new Blob([writeCsv(headers, rows)], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
