import { Progress } from "@mantine/core";
import { useState } from "react";
import { followUpdate, type UpdateRun } from "../../../../../../server/features/update/contract.ts";
import { phases, recoveryOf } from "../../../../../../server/features/update/state.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { CopyField } from "../../../../../shared/ui/kit/CopyField.tsx";
import { useLocalFollow } from "../../local.ts";

const t = translator("console");

/** The phases of an update that goes well, in their order. */
const forward = phases.slice(0, phases.indexOf("committed") + 1);

/** How far the update is that is under way, and how it can be called off. @param latest as it was when it was last asked for */
export function UpdateRunning({ latest }: { latest: UpdateRun }) {
  const [told, setTold] = useState<{ run: UpdateRun; share: number | null } | null>(null);
  useLocalFollow(followUpdate, {}, ({ run, share }) => setTold(run && { run, share }));
  const newer = told !== null && told.run.id === latest.id && told.run.at >= latest.at;
  const { run, share } = newer ? told : { run: latest, share: null };
  if (run.outcome !== null || run.phase === "done") return null;
  const at = forward.indexOf(run.phase);
  const percent = share === null ? null : Math.round(100 * share);
  const label = t(`update.running.${run.kind}`, { from: run.from, to: run.to });
  return (
    <section aria-labelledby="update-running">
      <h2 id="update-running">{label}</h2>
      {at >= 0 && <Progress value={(100 * (at + (share ?? 0))) / forward.length} aria-label={label} mb="sm" />}
      <p role="status">
        {at >= 0 && `${t("update.stepOf", { step: at + 1, all: forward.length })} `}
        {t(`update.phase.${run.phase}`)}
        {percent !== null && ` (${percent} %)`}
      </p>
      {/* The command holds the update: it ends with it, and nothing of it was in force yet. */}
      {recoveryOf(run.phase) === "take-back" && run.phase !== "taking-back" && (
        <>
          <p className="soft">{t("update.callOff")}</p>
          <CopyField label={t("update.takeBack")} value="sudo signet update resume" />
        </>
      )}
      {recoveryOf(run.phase) === "return" && <p className="soft">{t("update.noCallOff")}</p>}
    </section>
  );
}
