import { Button, Group, Progress } from "@mantine/core";
import { useCallback, useEffect, useId, useSyncExternalStore } from "react";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { type Batch, recognisedMs } from "./batch.ts";
import { RowsTable } from "./RowsTable.tsx";
import type { Row } from "./rows.ts";
import type { Run, RunState } from "./run.ts";
import { download } from "./useFile.ts";

const t = translator("send");

type Props = {
  rows: readonly Row[];
  /** What this file was begun with before. */
  batch: Batch | null;
  run: Run | null;
  kept: boolean;
  /** Another tab is sending the same file. */
  elsewhere: boolean;
  now: number;
  testMode: boolean;
  onBusy: (busy: boolean) => void;
  onStart: () => void;
  onFresh: () => void;
};

/** The sending itself: how far it is, what went wrong, and how to go on. */
export function RunStep(props: Props) {
  const { rows, run, onStart, testMode } = props;
  const id = useId();
  const good = rows.filter(({ findings }) => findings.length === 0);
  const sent = good.filter(({ number }) => props.batch?.sent[String(number)] !== undefined).length;
  const open = good.length - sent;
  return (
    <section className="bulk-card" aria-labelledby={id}>
      <h2 id={id}>{t("bulk.send.title")}</h2>
      {run === null ? (
        <>
          {props.elsewhere && <Elsewhere />}
          <Before {...props} sent={sent} references={good.some(({ request }) => request.externalId !== undefined)} />
          <div className="send-final-row">
            {open > 0 && (
              <span className="send-mode" data-test={testMode || undefined}>
                <strong>{testMode ? t("review.testMode") : t("review.liveMode")}</strong>{" "}
                {testMode ? t("review.testModeText") : t("review.liveModeText")}
              </span>
            )}
            {open === 0 && sent > 0 ? (
              <Button variant="default" onClick={onStart}>
                {t("bulk.send.show")}
              </Button>
            ) : (
              <Button size="md" disabled={open === 0} onClick={onStart}>
                {t(sent > 0 ? "bulk.send.goOn" : testMode ? "bulk.send.startTest" : "bulk.send.start", { count: open })}
              </Button>
            )}
          </div>
        </>
      ) : (
        <Running {...props} run={run} good={good} />
      )}
    </section>
  );
}

function Elsewhere() {
  return (
    <div className="notice bad" role="alert">
      {t("bulk.send.elsewhere")}
    </div>
  );
}

function Before({ batch, now, sent, references, onFresh }: Props & { sent: number; references: boolean }) {
  const confirm = useConfirm();
  const fresh = async () => {
    const agreed = await confirm({
      title: t("bulk.send.fresh"),
      text: t("bulk.send.freshText"),
      confirm: t("bulk.send.fresh"),
      danger: true,
    });
    if (agreed) onFresh();
  };
  const late = batch !== null && now - batch.startedAt > recognisedMs;
  return (
    <>
      {batch !== null && (
        <div className="notice">
          {t("bulk.send.resumed", { count: sent, name: batch.name })} {late && !references && t("bulk.send.late")}{" "}
          <button type="button" className="plain" onClick={() => void fresh()}>
            {t("bulk.send.fresh")}
          </button>
        </div>
      )}
      <p className="soft">
        {t("bulk.send.safe")} {references && t("bulk.send.safeReference")}
      </p>
    </>
  );
}

function Running({ rows, run, good, kept, elsewhere, onBusy }: Props & { run: Run; good: readonly Row[] }) {
  const state = useSyncExternalStore(
    useCallback((listener: () => void) => onceAFrame(run, listener), [run]),
    run.state,
  );
  const confirm = useConfirm();
  const { phase, counts, hindrance } = state;
  const busy = phase === "running" || phase === "paused";
  useEffect(() => {
    onBusy(busy);
    return () => onBusy(false);
  }, [busy, onBusy]);
  const finished = counts.sent + counts.failed;
  const number = new Intl.NumberFormat(pageLanguage());
  const cancel = async () => {
    const agreed = await confirm({
      title: t("bulk.send.cancel"),
      text: t("bulk.send.cancelText"),
      confirm: t("bulk.send.cancel"),
      cancel: t("bulk.send.keepSending"),
      danger: true,
    });
    if (agreed) run.cancel();
  };
  return (
    <div className="bulk-run" data-phase={phase}>
      {elsewhere && !busy && <Elsewhere />}
      {!kept && busy && <div className="notice bad">{t("bulk.send.notKept")}</div>}
      <Progress.Root size="lg">
        <Progress.Section
          value={counts.total === 0 ? 100 : (100 * finished) / counts.total}
          aria-label={t("bulk.send.progress")}
        />
      </Progress.Root>
      <p className="bulk-counts" role="status">
        <strong>{t(`bulk.send.phase.${phase}`)}</strong>{" "}
        {t("bulk.send.counts", { sent: number.format(counts.sent), total: number.format(counts.total) })}
        {counts.failed > 0 && <span className="bulk-bad"> {t("bulk.send.failed", { count: counts.failed })}</span>}
      </p>
      {hindrance && (
        <div className={hindrance.kind === "blocked" ? "notice bad" : "notice"} role="status">
          <strong>{t(`bulk.send.hindrance.${hindrance.kind}`)}</strong>
          {hindrance.message}
          {hindrance.requestId && (
            <small>
              {translator("common")("requestId")}: <code>{hindrance.requestId}</code>
            </small>
          )}
        </div>
      )}
      <Group gap="sm">
        {phase === "running" && (
          <Button variant="default" onClick={run.pause}>
            {t("bulk.send.pause")}
          </Button>
        )}
        {(phase === "paused" || phase === "cancelled") && <Button onClick={run.start}>{t("bulk.send.resume")}</Button>}
        {busy && (
          <Button variant="default" onClick={() => void cancel()}>
            {t("bulk.send.cancel")}
          </Button>
        )}
        {!busy && counts.failed > 0 && phase === "done" && (
          <Button onClick={run.retryFailed}>{t("bulk.send.retry", { count: counts.failed })}</Button>
        )}
        {finished > 0 && (
          <Button
            variant="default"
            onClick={() => void download(t("bulk.send.resultsFile"), resultHeaders, resultsOf(rows, state))}
          >
            {t("bulk.send.results")}
          </Button>
        )}
      </Group>
      <RowsTable rows={good} states={state.rows} />
    </div>
  );
}

/** Tells of changes no more often than they can be seen. */
function onceAFrame(run: Run, listener: () => void): () => void {
  let frame = 0;
  const stop = run.subscribe(() => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      listener();
    });
  });
  return () => {
    cancelAnimationFrame(frame);
    stop();
  };
}

/** Names for programs too, hence not translated. */
const resultHeaders = ["row", "envelope", "status", "error", "requestId", "externalId"];

function resultsOf(rows: readonly Row[], { rows: states }: RunState): string[][] {
  return rows.map(({ number, findings, request }) => {
    const reference = request.externalId ?? "";
    const state = states.get(number);
    if (state === undefined) {
      const errors = findings.map(({ column, code }) => `${column ?? "row"}: ${code}`).join("; ");
      return [String(number), "", "invalid", errors, "", reference];
    }
    switch (state.kind) {
      case "sent":
        return [String(number), state.envelope, state.existed ? "existed" : "sent", "", "", reference];
      case "failed":
        return [String(number), "", "failed", state.message, state.requestId ?? "", reference];
      default:
        return [String(number), "", "not sent", "", "", reference];
    }
  });
}
