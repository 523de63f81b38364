import { Button } from "@mantine/core";
import { ProblemResponse } from "../../../shared/api/client.ts";
import { translator } from "../../../shared/i18n.ts";
import { Failure } from "../../../shared/ui/Failure.tsx";
import { Clock } from "../../../shared/ui/icons.tsx";
import { isRefused } from "./access.ts";
import { Stage } from "./Stage.tsx";

/** The link does not open the status (any more), or the service did not answer. */
export function LinkProblem({ error }: { error: unknown }) {
  const t = translator("view");
  if (!isRefused(error) || !(error instanceof ProblemResponse)) {
    return (
      <Stage title={t("link.troubleTitle")} icon={<Clock size={28} />}>
        <Failure error={error} />
        <Button onClick={() => window.location.reload()}>{translator("common")("retry")}</Button>
      </Stage>
    );
  }
  const { code, requestId } = error.problem;
  const kind = code === "link-expired" ? "gone" : code === "token-expired" ? "expired" : "invalid";
  return (
    <Stage title={t(`link.${kind}Title`)} icon={<Clock size={28} />}>
      <p>{t(`link.${kind}`)}</p>
      <p className="soft fine">
        {translator("common")("requestId")}: <code>{requestId}</code>
      </p>
    </Stage>
  );
}
