import { NoAnswer, ProblemResponse } from "../api/client.ts";
import { translator } from "../i18n.ts";

/** The id that lets an administrator find a failed request, when there is one. */
export function requestIdOf(error: unknown): string | null {
  if (error instanceof ProblemResponse) return error.problem.requestId;
  return error instanceof NoAnswer ? error.requestId : null;
}

/** What went wrong in the service's own words, with the request id. */
export function Failure({ error }: { error: unknown }) {
  const t = translator("common");
  const requestId = requestIdOf(error);
  // The sign-in dialog explains it; closing that dialog is not an error.
  if (error instanceof ProblemResponse && error.problem.code === "fresh-sign-in-required") return null;
  if (error instanceof ProblemResponse && error.problem.code === "service-unavailable")
    return (
      <div className="notice bad" role="alert">
        <strong>{t("unavailable")}</strong>
        {t("unavailableText")}
        <small>
          {error.message}
          {requestId && ` (${requestId})`}
        </small>
      </div>
    );
  return (
    <div className="notice bad" role="alert">
      <strong>{error instanceof ProblemResponse ? error.problem.title : t("problem")}</strong>
      {error instanceof Error ? error.message : String(error)}
      {requestId && (
        <small>
          {t("requestId")}: <code>{requestId}</code>
        </small>
      )}
    </div>
  );
}
