import { dateTime, translator } from "../../../../shared/i18n.ts";
import { Check, Clock, Cross } from "../../../../shared/ui/icons.tsx";
import type { ScreenProps } from "../../routes.tsx";
import type { Passed } from "../access/kept.ts";
import { Stage } from "../access/Stage.tsx";
import { Parties } from "./Parties.tsx";

/** Somebody else signs first. */
export function WaitingScreen({ view }: ScreenProps) {
  const t = translator("sign");
  return (
    <Stage view={view} title={t("end.waitingTitle")} icon={<Clock size={28} />}>
      <p>{t("end.waiting", { title: view.envelope.title })}</p>
      <Parties view={view} />
    </Stage>
  );
}

/** Somebody else signs instead: told to whoever passed it on, also when they come back. */
export function PassedScreen({ passed }: { passed: Passed }) {
  const t = translator("sign");
  const { name, email, title, organization } = passed;
  return (
    <Stage title={t("end.passedTitle")} icon={<Check size={30} />}>
      <p>{t("end.passed", { name, email, title })}</p>
      <p>{t("end.passedDone")}</p>
      <p className="soft">{t("end.contact", { organization })}</p>
    </Stage>
  );
}

export function DeclinedScreen({ view }: ScreenProps) {
  const t = translator("sign");
  return (
    <Stage view={view} title={t("end.declinedTitle")} icon={<Cross size={28} />}>
      <p>{t("end.declined", { title: view.envelope.title, organization: view.sender.organization })}</p>
    </Stage>
  );
}

/** The envelope ended without this person: voided, expired, declined by another. */
export function ClosedScreen({ view }: ScreenProps) {
  const t = translator("sign");
  const { status, title, expiresAt } = view.envelope;
  const organization = view.sender.organization;
  return (
    <Stage view={view} title={t("end.closedTitle")} icon={<Cross size={28} />}>
      <p>
        {status === "expired"
          ? t("end.expired", { title, at: expiresAt ? dateTime(expiresAt) : "" })
          : status === "declined"
            ? t("end.otherDeclined", { title })
            : t("end.voided", { title, organization })}
      </p>
      <p className="soft">{t("end.contact", { organization })}</p>
    </Stage>
  );
}
