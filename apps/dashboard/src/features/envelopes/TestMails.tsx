import { Button } from "@mantine/core";
import type { Envelope } from "../../../../../server/features/envelopes/contract.ts";
import { listTestMails, type TestMail } from "../../../../../server/features/envelopes/dashboard-contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { CopyField } from "../../../../shared/ui/kit/CopyField.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import type { Tone } from "./status.ts";

/** The mails of a test envelope with their links and codes, so that one person can play all parts. */
export function TestMails({ envelope }: { envelope: Envelope }) {
  const t = translator("envelopes");
  // Codes are asked for on the signing page, which changes nothing that this page follows.
  const mails = useEndpoint(listTestMails, { query: { envelope: envelope.id } }, { refetchInterval: 5000 });
  return (
    <section aria-label={t("mails.title")} className="envelope-mails">
      <p className="soft">{t("mails.text")}</p>
      {mails.isError && <Failure error={mails.error} />}
      {mails.isPending && <Loading rows={2} height={120} />}
      {mails.data?.data.length === 0 && <p>{t("mails.none")}</p>}
      <ul>
        {mails.data?.data.map((mail) => (
          <Mail key={mail.id} mail={mail} />
        ))}
      </ul>
    </section>
  );
}

const tones: Record<TestMail["status"], Tone> = {
  queued: "busy",
  sent: "good",
  written: "good",
  held: "neutral",
  failed: "bad",
};

function Mail({ mail }: { mail: TestMail }) {
  const t = translator("envelopes");
  const { subject, to, status, link, code, error, createdAt } = mail;
  return (
    <li className="envelope-card envelope-mail" data-kind={mail.kind}>
      <div className="envelope-mail-head">
        <h3 dir="auto">{subject}</h3>
        <StatusBadge tone={tones[status]}>{t(`mails.status.${status}`)}</StatusBadge>
      </div>
      <p className="soft">
        {t("mails.to", { email: to.email })} · <When at={createdAt} />
      </p>
      {error && <p className="envelope-told bad">{error}</p>}
      {code && <CopyField label={t("mails.code")} value={code} />}
      {link && (
        <div className="envelope-mail-link">
          <CopyField label={t("mails.link")} value={link} />
          <Button component="a" href={link} target="_blank" rel="noreferrer" variant="default">
            {t("mails.open")}
          </Button>
        </div>
      )}
    </li>
  );
}
