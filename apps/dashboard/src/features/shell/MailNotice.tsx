import { translator } from "../../../../shared/i18n.ts";
import { useCan, useSession } from "../../session.tsx";

/** Says to those who run the organization where its mails are, when no mail server takes them; else nothing. */
export function MailNotice() {
  const t = translator("shell");
  const manages = useCan("member:manage");
  const { mail } = useSession();
  if (!manages || mail === "smtp") return null;
  return (
    <div className="notice" data-mail={mail}>
      <strong>{t(`mail.${mail}.title`)}</strong>
      {t(`mail.${mail}.text`)}
    </div>
  );
}
