import { Progress as Bar, Button, FileButton } from "@mantine/core";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { translator } from "../../shared/i18n.ts";
import { Brand } from "../../shared/ui/Brand.tsx";
import { Failure } from "../../shared/ui/Failure.tsx";
import { Pages } from "../../shared/ui/icons.tsx";
import { checkFile, FileUnreadable, type Outcome, type Progress } from "./features/check.ts";
import { Report } from "./features/Report.tsx";

type Item = { id: number; file: File } & (
  | { state: "waiting" }
  | { state: "checking"; progress: Progress }
  | { state: "done"; outcome: Outcome }
  | { state: "failed"; error: unknown }
);

/** The public verification page: files in, one verdict each. */
export function Verify() {
  const t = translator("verify");
  const { items, take, reset } = useChecks();
  const running = items.find(({ state }) => state === "checking");
  const finished = items.length > 0 && items.every(({ state }) => state === "done" || state === "failed");
  const last = items.findLast((item) => item.state === "done");
  return (
    <div className="stage">
      <header className="bar">
        <Brand href="/" />
      </header>
      <main className="verify">
        <h1>{t("title")}</h1>
        {items.length === 0 && <p className="lead">{t("lead")}</p>}
        <p className="spoken" aria-live="polite">
          {running?.state === "checking"
            ? t(running.progress.stage)
            : finished && last?.state === "done"
              ? t(`verdict.${last.outcome.verdict}`)
              : ""}
        </p>
        {items.map((item) => (
          <Result key={item.id} item={item} focus={item.id === last?.id} />
        ))}
        {finished && (
          <Button variant="default" className="again" onClick={reset}>
            {t("again")}
          </Button>
        )}
        {items.length === 0 && <Zone onFiles={take} />}
        <Drops onFiles={take} />
        <p className="soft foot">
          {t("foot")} <a href="/.well-known/svc/keys.json">/.well-known/svc/keys.json</a>
        </p>
      </main>
    </div>
  );
}

/** Files one after the other, in the order in which they were given. */
function useChecks() {
  const [items, setItems] = useState<readonly Item[]>([]);
  const next = useRef(1);
  const busy = useRef(false);
  const queue = useRef<{ id: number; file: File }[]>([]);
  const put = (item: Item) => setItems((all) => all.map((one) => (one.id === item.id ? item : one)));
  const run = async () => {
    if (busy.current) return;
    busy.current = true;
    for (let job = queue.current.shift(); job; job = queue.current.shift()) {
      const { id, file } = job;
      try {
        const onProgress = (progress: Progress) => put({ id, file, state: "checking", progress });
        put({ id, file, state: "done", outcome: await checkFile(file, onProgress) });
      } catch (error) {
        put({ id, file, state: "failed", error });
      }
    }
    busy.current = false;
  };
  return {
    items,
    take(files: readonly File[]) {
      const added = files.map((file) => ({ id: next.current++, file }));
      queue.current.push(...added);
      setItems((all) => [...all, ...added.map((one) => ({ ...one, state: "waiting" as const }))]);
      void run();
    },
    reset: () => setItems([]),
  };
}

function Result({ item, focus }: { item: Item; focus: boolean }) {
  const t = translator("verify");
  if (item.state === "done") return <Report outcome={item.outcome} focus={focus} />;
  if (item.state === "failed") {
    return (
      <section>
        <h2>{t("trouble")}</h2>
        <p>{item.file.name}</p>
        {item.error instanceof FileUnreadable ? (
          <p className="notice bad" role="alert">
            {t("unreadableFile")}
          </p>
        ) : (
          <Failure error={item.error} />
        )}
      </section>
    );
  }
  const progress = item.state === "checking" ? item.progress : null;
  const share = progress?.share ?? null;
  return (
    <div className="card busy">
      <span>{item.file.name}</span>
      <Bar
        value={share === null ? 100 : share * 100}
        animated={share === null}
        aria-label={progress ? t(progress.stage) : t("waiting")}
      />
      <span aria-hidden="true">{progress ? t(progress.stage) : t("waiting")}</span>
    </div>
  );
}

/** A file may be dropped anywhere, also behind the first; one that misses must not replace the page. */
function Drops({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const report = useRef(onFiles);
  report.current = onFiles;
  useEffect(() => {
    const stop = (event: globalThis.DragEvent) => event.preventDefault();
    const drop = (event: globalThis.DragEvent) => {
      event.preventDefault();
      report.current([...(event.dataTransfer?.files ?? [])]);
    };
    window.addEventListener("dragover", stop);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", stop);
      window.removeEventListener("drop", drop);
    };
  }, []);
  return null;
}

function Zone({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const t = translator("verify");
  const [over, setOver] = useState(false);
  const enter = (event: DragEvent) => setOver(event.type === "dragenter" || event.type === "dragover");
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is the pointer's way; the button inside does the same
    <div className="card drop" data-over={over || undefined} onDragEnter={enter} onDragOver={enter} onDragLeave={enter}>
      <Pages size={44} />
      <p className="drop-title">{t("drop")}</p>
      <p className="soft">{t("or")}</p>
      <FileButton multiple accept=".pdf,application/pdf" onChange={onFiles} inputProps={{ "aria-label": t("choose") }}>
        {(props) => (
          <Button size="md" {...props}>
            {t("choose")}
          </Button>
        )}
      </FileButton>
    </div>
  );
}
