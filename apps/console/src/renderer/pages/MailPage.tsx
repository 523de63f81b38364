import { getMailQueue, type MailQueue } from "../../../../../server/features/mail/queue-contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Check } from "../../../../shared/ui/icons.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { wordsOf } from "../finding-words.ts";
import { Loaded } from "../Loaded.tsx";
import { useLocal } from "../local.ts";
import { PageLink } from "../PageLink.tsx";
import { Said, Words } from "../Said.tsx";
import { MailTest } from "./mail/MailTest.tsx";

const t = translator("console");

/** Whether mail goes out: a test with the whole conversation, and each mail that stayed here with its cause. */
export function MailPage() {
  const queue = useLocal(getMailQueue, {}, { refetchInterval: 10_000 });
  return (
    <>
      <PageHeader title={t("mail.nav")} description={t("mail.description")} />
      <Loaded query={queue}>
        {(data) => (
          <>
            <div className="tiles">
              <section aria-labelledby="mail-way">
                <h2 id="mail-way">{t("mail.way")}</h2>
                <p>
                  {data.by === "smtp" ? (
                    <>
                      {t("mail.smtp")} <code>{data.server}</code>
                    </>
                  ) : (
                    t("mail.file")
                  )}
                </p>
                <PageLink to="settings">{t("settings.nav")}</PageLink>
              </section>
              <section aria-labelledby="mail-counts">
                <h2 id="mail-counts">{t("mail.counts")}</h2>
                <dl className="facts">
                  {(["queued", "failed", "held", "sent", "written"] as const).map((kind) => (
                    <Count key={kind} label={t(`mail.count.${kind}`)} value={data.counts[kind]} />
                  ))}
                </dl>
              </section>
            </div>
            <div className="sections below">
              <section aria-labelledby="mail-test">
                <h2 id="mail-test">{t("mail.test")}</h2>
                <MailTest />
              </section>
            </div>
            <h2>{t("mail.queue")}</h2>
            <Queue mails={data.data} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Count({ label, value }: { label: string; value: number }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </>
  );
}

const tones = { queued: "busy", failed: "bad", held: "waiting" } as const;

function Queue({ mails }: { mails: MailQueue["data"] }) {
  if (mails.length === 0)
    return <Empty icon={<Check size={32} />} title={t("mail.empty")} text={t("mail.emptyText")} />;
  return (
    <table className="list-table">
      <thead>
        <tr>
          <th scope="col">{t("mail.to")}</th>
          <th scope="col">{t("mail.status")}</th>
          <th scope="col">{t("mail.cause")}</th>
          <th scope="col">{t("mail.since")}</th>
        </tr>
      </thead>
      <tbody>
        {mails.map(({ id, to, kind, organization, status, heldFor, cause, attempts, createdAt, nextAttemptAt }) => (
          <tr key={id}>
            <th scope="row">
              {to}
              <small>{[kind, organization?.name].filter(Boolean).join(" · ")}</small>
            </th>
            <td data-label={t("mail.status")}>
              <StatusBadge tone={tones[status]}>{t(`mail.count.${status}`)}</StatusBadge>
            </td>
            <td data-label={t("mail.cause")}>
              {heldFor !== null ? (
                <Words>{wordsOf("console", `mail.heldFor.${heldFor}`, {}, heldFor)}</Words>
              ) : cause !== null ? (
                <Said>{cause}</Said>
              ) : (
                "–"
              )}
              {attempts > 0 && <small>{t("work.tries", { count: attempts })}</small>}
            </td>
            <td data-label={t("mail.since")}>
              <When at={createdAt} />
              {nextAttemptAt !== null && (
                <small>
                  {t("work.next")} <When at={nextAttemptAt} />
                </small>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
