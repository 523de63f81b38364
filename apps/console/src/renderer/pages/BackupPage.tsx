import { Button, Progress } from "@mantine/core";
import type { z } from "zod";
import {
  type Backup,
  type BackupProgress,
  type BackupState,
  cancelBackup,
  getBackupState,
  listBackups,
  startBackup,
  startDrill,
  verifyBackup,
} from "../../../../../server/features/backup/contract.ts";
import { dateTime, translator } from "../../../../shared/i18n.ts";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { bytes } from "../bytes.ts";
import { Failure } from "../Failure.tsx";
import { wordsOf } from "../finding-words.ts";
import { Loaded } from "../Loaded.tsx";
import { useLocal, useLocalAct } from "../local.ts";
import { PageLink } from "../PageLink.tsx";
import { Said, Words } from "../Said.tsx";

const t = translator("console");
const changes = [getBackupState, listBackups];

/** Backups with the age of the last verified one, and drills that prove that they can be restored. */
export function BackupPage() {
  const state = useLocal(getBackupState, {}, { refetchInterval: 2000 });
  const begin = useLocalAct(startBackup, { changes });
  const drill = useLocalAct(startDrill, { changes });
  const busy = state.data?.running != null;
  const failed = begin.error ?? drill.error;
  return (
    <>
      <PageHeader
        title={t("backup.nav")}
        description={t("backup.description")}
        actions={
          state.data?.settings && (
            <>
              <Button disabled={busy} loading={begin.isPending} onClick={() => begin.mutate({})}>
                {t("backup.start")}
              </Button>
              <Button
                variant="default"
                disabled={busy}
                loading={drill.isPending}
                onClick={() => drill.mutate({ body: {} })}
              >
                {t("backup.drill")}
              </Button>
            </>
          )
        }
      />
      {failed && <Failure error={failed} />}
      <Loaded query={state}>{(data) => <State state={data} />}</Loaded>
    </>
  );
}

function State({ state: { settings, running, last, lastVerified, lastDrill, nextAt } }: { state: BackupState }) {
  if (settings === null)
    return (
      <Empty
        title={t("backup.notSet")}
        text={t("backup.notSetText")}
        action={<PageLink to="settings">{t("settings.nav")}</PageLink>}
      />
    );
  return (
    <>
      {running && <Running progress={running} />}
      <div className="tiles">
        <section aria-labelledby="backup-state">
          <h2 id="backup-state">{t("backup.state")}</h2>
          <p>
            {lastVerified ? (
              <StatusBadge tone={lastVerified.ageHours > 2 * settings.intervalHours ? "bad" : "good"}>
                {t("backup.verified")} <When at={lastVerified.at} />
              </StatusBadge>
            ) : (
              <StatusBadge tone="bad">{t("backup.neverVerified")}</StatusBadge>
            )}
          </p>
          {last?.cause && (
            <p className="notice bad">
              <Said>{last.cause}</Said>
            </p>
          )}
          <dl className="facts">
            <dt>{t("backup.folder")}</dt>
            <dd>
              <code>{settings.folder}</code>
            </dd>
            <dt>{t("backup.openedBy")}</dt>
            <dd>{settings.openedBy === "passphrase" ? t("backup.passphrase") : <code>{settings.openedBy}</code>}</dd>
            <dt>{t("backup.keep")}</dt>
            <dd>{settings.keep}</dd>
            <dt>{t("backup.next")}</dt>
            <dd>{nextAt === null ? "–" : <When at={nextAt} />}</dd>
          </dl>
        </section>
        <section aria-labelledby="backup-drill">
          <h2 id="backup-drill">{t("backup.lastDrill")}</h2>
          {lastDrill ? (
            <>
              <p>
                <StatusBadge
                  tone={lastDrill.status === "passed" ? "good" : lastDrill.status === "running" ? "busy" : "bad"}
                >
                  {t(`backup.drillStatus.${lastDrill.status}`)}
                </StatusBadge>{" "}
                <When at={lastDrill.startedAt} />
              </p>
              {lastDrill.openedBy !== null && <p className="soft">{t(`backup.drillOpenedBy.${lastDrill.openedBy}`)}</p>}
              {lastDrill.cause !== null && (
                <p className="notice bad">
                  <Said>{lastDrill.cause}</Said>
                </p>
              )}
              <ul>
                {Object.entries(lastDrill.checked).map(([what, count]) => (
                  <li key={what}>
                    <Words>{wordsOf("console", `backup.walked.${what}`, {}, what)}</Words>: {count}
                  </li>
                ))}
              </ul>
            </>
          ) : (
            <p className="soft">{t("backup.noDrill")}</p>
          )}
        </section>
      </div>
      <h2>{t("backup.list")}</h2>
      <Backups busy={running !== null} />
    </>
  );
}

function Running({ progress }: { progress: z.infer<typeof BackupProgress> }) {
  const { kind, step, files, bytes: size } = progress;
  const cancel = useLocalAct(cancelBackup, { changes });
  const percent = size.all > 0 ? Math.round((100 * size.done) / size.all) : 0;
  return (
    <div className="notice" role="status">
      <strong>
        {t(`backup.kind.${kind}`)}: {t(`backup.step.${step}`)}
      </strong>
      <Progress value={percent} aria-label={t(`backup.kind.${kind}`)} my="xs" />
      {t("backup.progress", { done: files.done, all: files.all, size: bytes(size.done) })}{" "}
      <Button size="compact-sm" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate({})}>
        {t("backup.cancel")}
      </Button>
      {cancel.isError && <Failure error={cancel.error} />}
    </div>
  );
}

function Backups({ busy }: { busy: boolean }) {
  const backups = useLocal(listBackups, {}, { refetchInterval: 10_000 });
  return (
    <Loaded query={backups}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title={t("backup.empty")} />
        ) : (
          <table className="list-table">
            <thead>
              <tr>
                <th scope="col">{t("backup.made")}</th>
                <th scope="col">{t("backup.size")}</th>
                <th scope="col">{t("backup.checked")}</th>
                <th scope="col">{t("actions")}</th>
              </tr>
            </thead>
            <tbody>
              {data.map((one) => (
                <BackupRow key={one.id} backup={one} busy={busy} />
              ))}
            </tbody>
          </table>
        )
      }
    </Loaded>
  );
}

const tones = { unverified: "waiting", verified: "good", damaged: "bad" } as const;

function BackupRow({ backup, busy }: { backup: Backup; busy: boolean }) {
  const { id, createdAt, version, files, bytes: size, status, verifiedAt, ahead, cause } = backup;
  const verify = useLocalAct(verifyBackup, { changes });
  return (
    <tr>
      <th scope="row">
        {createdAt === null ? id : <time dateTime={createdAt}>{dateTime(createdAt)}</time>}
        <small>
          <code>{id}</code> {version}
        </small>
      </th>
      <td data-label={t("backup.size")}>
        {size === null ? "–" : bytes(size)}
        {files !== null && <small>{t("backup.files", { count: files })}</small>}
      </td>
      <td data-label={t("backup.checked")}>
        <StatusBadge tone={tones[status]}>{t(`backup.status.${status}`)}</StatusBadge>
        {ahead && <StatusBadge tone="waiting">{t("backup.ahead")}</StatusBadge>}
        {verifiedAt !== null && (
          <small>
            <When at={verifiedAt} />
          </small>
        )}
        {cause !== null && (
          <small>
            <Said>{cause}</Said>
          </small>
        )}
        {verify.isError && <Failure error={verify.error} />}
      </td>
      <td data-label={t("actions")}>
        <Button
          size="compact-sm"
          variant="default"
          disabled={busy}
          loading={verify.isPending}
          onClick={() => verify.mutate({ params: { id } })}
        >
          {t("backup.verify")}
          <span className="spoken"> {id}</span>
        </Button>
      </td>
    </tr>
  );
}
