import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { listKeyRecords } from "../../../../../../server/features/keys/managed-contract.ts";
import type { KeyRecord } from "../../../../../../server/features/keys/record-schema.ts";
import { dateTime, translator } from "../../../../../shared/i18n.ts";
import { notify } from "../../../../../shared/ui/kit/notify.tsx";
import { StatusBadge } from "../../../../../shared/ui/kit/StatusBadge.tsx";
import { ask } from "../../bridge.ts";
import { Failure } from "../../Failure.tsx";
import { Loaded } from "../../Loaded.tsx";
import { useLocal } from "../../local.ts";

const t = translator("console");

/** The signed records of what was done to the keys, newest first, to be printed or kept. */
export function KeyRecords() {
  const records = useLocal(listKeyRecords, {});
  return (
    <Loaded query={records}>
      {({ data, problems }) => (
        <>
          <p role="status">
            <StatusBadge tone={problems.length === 0 ? "good" : "bad"}>
              {problems.length === 0 ? t("keys.chainHolds", { count: data.length }) : t("keys.chainBroken")}
            </StatusBadge>
          </p>
          {problems.length > 0 && (
            <ul>
              {problems.map((problem) => (
                <li key={problem}>{problem}</li>
              ))}
            </ul>
          )}
          {data.toReversed().map((record) => (
            <Record key={record.seq} record={record} />
          ))}
        </>
      )}
    </Loaded>
  );
}

function Record({ record }: { record: KeyRecord }) {
  const [printing, setPrinting] = useState(false);
  const save = useMutation({
    mutationFn: () =>
      ask("file.save", { name: `signet-key-record-${record.seq}.json`, text: `${JSON.stringify(record, null, 2)}\n` }),
    onSuccess: ({ saved }) => saved !== null && notify({ message: t("saved", { path: saved }) }),
  });
  useEffect(() => {
    if (!printing) return;
    window.print();
    setPrinting(false);
  }, [printing]);
  const { seq, act, at } = record;
  return (
    <details className={printing ? "record printed" : "record"}>
      <summary>
        {t("keys.record", { seq })}: {t(`keys.acts.${act}`)}, <time dateTime={at}>{dateTime(at)}</time>
      </summary>
      <dl className="facts">
        {linesOf(record).map(([label, value], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one record never move
          <div key={index} className="fact">
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p className="soft small">{t("keys.recordHow")}</p>
      {save.isError && <Failure error={save.error} />}
      <Group className="no-print">
        <Button variant="default" onClick={() => setPrinting(true)}>
          {t("keys.print")}
          <span className="spoken"> {t("keys.record", { seq })}</span>
        </Button>
        <Button variant="default" loading={save.isPending} onClick={() => save.mutate()}>
          {t("keys.save")}
          <span className="spoken"> {t("keys.record", { seq })}</span>
        </Button>
      </Group>
    </details>
  );
}

const useName = (use: string) =>
  use === "ca" || use === "seal" || use === "timestamp" || use === "anchor" ? t(`keys.use.${use}`) : use;

/** Everything that the signature covers, in words. */
function linesOf({ act, at, by, keys, masterKey, prevHash, hash, kid, signature }: KeyRecord): [string, string][] {
  return [
    [t("keys.act"), t(`keys.acts.${act}`)],
    [t("keys.at"), at],
    [t("keys.who"), `${by.account} (${by.host})${by.name === null ? "" : `, ${by.name}`}`],
    ...(masterKey ? [[t("keys.master"), `${masterKey.before} → ${masterKey.after}`] satisfies [string, string]] : []),
    ...keys.flatMap((key): [string, string][] => [
      [t("keys.key"), `${useName(key.use)}, ${key.kind}, ${t(`keys.states.${key.state}`)}`],
      [t("keys.fingerprint"), key.id],
      [t("keys.publicKey"), key.publicKeySha256],
      ...(key.subject === null ? [] : [[t("keys.certificate"), key.subject] satisfies [string, string]]),
      [
        t("keys.where"),
        key.where.storage === "software"
          ? t("keys.storage.software")
          : `${key.where.label} (${key.where.model ?? "?"}, ${key.where.serial ?? "?"}), ${key.where.keyId}`,
      ],
    ]),
    [t("keys.before"), prevHash],
    [t("keys.hash"), hash],
    [t("keys.signature"), signature ?? t("keys.unsigned")],
    [t("keys.use.anchor"), kid ?? "–"],
  ];
}
