import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { requestFreshLink } from "../../../../../server/features/signing/contract.ts";
import { callEndpoint, ProblemResponse } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Clock, Mail } from "../../../../shared/ui/icons.tsx";
import { Stage } from "./Stage.tsx";

const endings = ["token-invalid", "token-expired", "token-used", "unauthorized"];

/** Whether the service says that the token, not the request, is the trouble. */
export function isTokenProblem(error: unknown): boolean {
  return error instanceof ProblemResponse && endings.includes(error.problem.code);
}

/** The link or the session does not open the document (any more): says why and offers a fresh one by mail. */
export function LinkProblem({ error, link }: { error: unknown; link: string | null }) {
  const t = translator("sign");
  const fresh = useMutation({
    mutationFn: (token: string) => callEndpoint(requestFreshLink, { body: { token } }),
  });
  if (fresh.isSuccess) {
    return (
      <Stage title={t("link.sentTitle")} icon={<Mail size={28} />}>
        <p>{t("link.sent")}</p>
      </Stage>
    );
  }
  const used = error instanceof ProblemResponse && error.problem.code === "token-used";
  const unknown = error instanceof ProblemResponse && error.problem.code === "token-invalid";
  return (
    <Stage
      title={used ? t("link.usedTitle") : unknown ? t("link.invalidTitle") : t("link.expiredTitle")}
      icon={<Clock size={28} />}
    >
      <p>{link ? t("link.why") : t("link.reopen")}</p>
      {link && (
        <Button fullWidth size="md" loading={fresh.isPending} onClick={() => fresh.mutate(link)}>
          {t("link.fresh")}
        </Button>
      )}
      {fresh.isError && <Failure error={fresh.error} />}
      {error instanceof ProblemResponse && (
        <p className="fine">
          {error.problem.detail} {t("link.id", { id: error.problem.requestId })}
        </p>
      )}
    </Stage>
  );
}

/** The page was opened without any link. */
export function NoLink() {
  const t = translator("sign");
  return (
    <Stage title={t("link.noneTitle")} icon={<Mail size={28} />}>
      <p>{t("link.none")}</p>
    </Stage>
  );
}
