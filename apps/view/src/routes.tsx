import { useState } from "react";
import { translator } from "../../shared/i18n.ts";
import { Mail } from "../../shared/ui/icons.tsx";
import type { Entry } from "./features/access.ts";
import { LinkProblem } from "./features/LinkProblem.tsx";
import { Stage } from "./features/Stage.tsx";
import { Status } from "./features/Status.tsx";

/** The status page of somebody who follows an envelope without signing it. */
export function View({ entry }: { entry: Entry }) {
  const t = translator("view");
  const [ended, setEnded] = useState<unknown>(entry.kind === "refused" ? entry.error : null);
  if (entry.kind === "none") {
    return (
      <Stage title={t("link.noneTitle")} icon={<Mail size={28} />}>
        <p>{t("link.none")}</p>
      </Stage>
    );
  }
  if (ended !== null || entry.kind === "refused") return <LinkProblem error={ended} />;
  return <Status entry={entry} onEnd={setEnded} />;
}
