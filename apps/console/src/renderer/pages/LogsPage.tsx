import { Button, Group, NativeSelect, TextInput } from "@mantine/core";
import { useDeferredValue, useState } from "react";
import { followLog, type LogLine, logLevels, readLog } from "../../../../../server/features/appliance/logs-contract.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { useConnection } from "../connection.ts";
import { Failure } from "../Failure.tsx";
import { Loaded } from "../Loaded.tsx";
import { useLocal, useLocalFollow } from "../local.ts";
import { verbatim } from "../Said.tsx";

const t = translator("console");
/** As many lines as are kept on the page. */
const most = 1000;

type Level = (typeof logLevels)[number];
type Filter = { level: Level; search?: string };

/** The lines of the log, as they are written. */
export function LogsPage() {
  const [level, setLevel] = useState<Level>("info");
  const [typed, setTyped] = useState("");
  const [again, setAgain] = useState(0);
  const { data: connection } = useConnection();
  const search = useDeferredValue(typed.trim());
  const filter: Filter = { level, ...(search === "" ? {} : { search }) };
  // Lines are numbered from the start of the process: after another one all of them are read anew.
  const since = connection?.state === "running" ? connection.since : null;
  return (
    <>
      <PageHeader title={t("logs.nav")} description={t("logs.description")} />
      <Group mb="md" align="end">
        <NativeSelect
          label={t("logs.level")}
          value={level}
          data={logLevels.map((value) => ({ value, label: t(`logs.levels.${value}`) }))}
          onChange={({ currentTarget: { value } }) => setLevel(logLevels.find((one) => one === value) ?? "info")}
        />
        <TextInput
          type="search"
          label={t("logs.search")}
          maxLength={200}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </Group>
      {since !== null && (
        <Lines key={JSON.stringify([filter, since, again])} filter={filter} onAgain={() => setAgain(again + 1)} />
      )}
    </>
  );
}

function Lines({ filter, onAgain }: { filter: Filter; onAgain: () => void }) {
  const page = useLocal(readLog, { query: { ...filter, limit: 200 } });
  const [added, setAdded] = useState<readonly LogLine[]>([]);
  // While somebody reads, nothing moves; what is written meanwhile is counted.
  const [paused, setPaused] = useState<{ lines: readonly LogLine[]; missed: number } | null>(null);
  const following = useLocalFollow(followLog, { query: filter }, (line) => {
    setAdded((before) => [...before, line].slice(-most));
    setPaused((before) => before && { ...before, missed: before.missed + 1 });
  });
  return (
    <Loaded query={page} rows={8}>
      {({ data, keptIn }) => {
        const last = data.at(-1)?.seq ?? -1;
        const newest = [...data, ...added.filter(({ seq }) => seq > last)].slice(-most);
        const lines = paused?.lines ?? newest;
        return (
          <>
            <Group mb="sm" role="status">
              {following.state === "ended" ? (
                <StatusBadge tone="waiting">{t("logs.ended")}</StatusBadge>
              ) : (
                <StatusBadge tone={paused ? "neutral" : "good"}>
                  {paused ? t("logs.paused", { count: paused.missed }) : t("logs.following")}
                </StatusBadge>
              )}
              {following.state === "ended" ? (
                <Button size="compact-sm" variant="default" onClick={onAgain}>
                  {t("logs.again")}
                </Button>
              ) : (
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={() => setPaused(paused ? null : { lines: newest, missed: 0 })}
                >
                  {paused ? t("logs.follow") : t("logs.pause")}
                </Button>
              )}
            </Group>
            {following.error && <Failure error={following.error} />}
            {lines.length === 0 ? (
              <Empty title={t("logs.empty")} text={t("logs.emptyText")} />
            ) : (
              <ol className="log" reversed aria-label={t("logs.nav")}>
                {lines.toReversed().map((line) => (
                  <Line key={line.seq} line={line} />
                ))}
              </ol>
            )}
            <p className="soft small">
              {keptIn === null ? t("logs.notKept") : t("logs.keptIn")} {keptIn !== null && <code>{keptIn}</code>}
            </p>
          </>
        );
      }}
    </Loaded>
  );
}

function Line({ line: { at, level, message, data } }: { line: LogLine }) {
  const time = new Intl.DateTimeFormat(pageLanguage(), { dateStyle: "short", timeStyle: "medium" });
  return (
    <li data-level={level}>
      <time dateTime={at}>{time.format(Date.parse(at))}</time> <b>{t(`logs.levels.${level}`)}</b>{" "}
      <span {...verbatim()}>{message}</span>
      {data !== null && <code {...verbatim()}>{data}</code>}
    </li>
  );
}
