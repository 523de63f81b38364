import { Button } from "@mantine/core";
import {
  listManagedAnchors,
  type ManagedAnchors,
  resumeAnchors,
} from "../../../../../../server/features/evidence/anchors/managed-contract.ts";
import { dateTime, translator } from "../../../../../shared/i18n.ts";
import { useConfirm } from "../../../../../shared/ui/kit/Confirm.tsx";
import { notify } from "../../../../../shared/ui/kit/notify.tsx";
import { Failure } from "../../Failure.tsx";
import { useLocalAct } from "../../local.ts";
import { PageLink } from "../../PageLink.tsx";

const t = translator("console");

type Props = { held: NonNullable<ManagedAnchors["held"]> /** Number of the newest anchor here. */; latest: number };

/** Why no anchor is signed after a restore, what to check, and the way on for whoever answers for it. */
export function HeldAnchors({ held: { reason, since, backup, later }, latest }: Props) {
  const confirm = useConfirm();
  const resume = useLocalAct(resumeAnchors, {
    changes: [listManagedAnchors],
    onDone: () => notify({ message: t("anchors.held.resumed") }),
  });
  const press = async () => {
    const agreed = await confirm({
      title: t("anchors.held.askTitle"),
      text: t("anchors.held.askText", { latest }),
      confirm: t("anchors.held.resume"),
      danger: true,
    });
    if (agreed) resume.mutate({});
  };
  const why =
    reason === "witness"
      ? t("anchors.held.witness")
      : backup === null
        ? t("anchors.held.restoredUnknown")
        : t("anchors.held.restored", { backup });
  return (
    <section aria-labelledby="anchors-held" className="notice bad">
      <h2 id="anchors-held">{t("anchors.held.title")}</h2>
      <p>{later === null ? why : t("anchors.held.later", { later })}</p>
      <p>
        {t("anchors.held.goesOn")} {t("anchors.held.since")} <time dateTime={since}>{dateTime(since)}</time>.
      </p>
      <h3>{t("anchors.held.check")}</h3>
      {later === null ? (
        <ol>
          <li>{t("anchors.held.checkOld")}</li>
          <li>{t("anchors.held.checkWitness", { latest })}</li>
          <li>
            {t("anchors.held.checkBackup")} <PageLink to="restore">{t("restore.nav")}</PageLink>
          </li>
        </ol>
      ) : (
        <ol>
          <li>
            {t("anchors.held.laterRestore")} <PageLink to="restore">{t("restore.nav")}</PageLink>
          </li>
          <li>
            {t("anchors.held.laterRotate")} <PageLink to="keys">{t("keys.nav")}</PageLink>
          </li>
          <li>{t("anchors.held.laterWitness")}</li>
        </ol>
      )}
      {resume.isError && <Failure error={resume.error} />}
      {later === null && (
        <Button variant="default" loading={resume.isPending} onClick={() => void press()}>
          {t("anchors.held.resume")}
        </Button>
      )}
    </section>
  );
}
