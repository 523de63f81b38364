import type { ErrorCode } from "../../../../../server/kernel/problem.ts";
import { ProblemResponse } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure, requestIdOf } from "../../../../shared/ui/Failure.tsx";

const t = translator("access");
const common = translator("common");

/** In the person's language, for what they can do something about; null for the rest. */
function wordsFor({ problem }: ProblemResponse): string | null {
  const code: ErrorCode = problem.code;
  switch (code) {
    case "unauthorized":
      return t("failure.unauthorized");
    case "otp-invalid":
      return problem.attemptsRemaining === undefined
        ? t("failure.otp")
        : t("failure.otpLeft", { count: problem.attemptsRemaining });
    case "otp-expired":
      return t("failure.otpExpired");
    case "otp-exhausted":
      return t("failure.otpExhausted");
    case "token-invalid":
      return t("failure.tokenInvalid");
    case "token-expired":
      return t("failure.tokenExpired");
    case "token-used":
      return t("failure.tokenUsed");
    case "sso-required":
      return t("failure.sso");
    case "rate-limited":
      return problem.retryAfter === undefined
        ? t("failure.tooMany")
        : t("failure.tooManyFor", { count: Math.ceil(problem.retryAfter) });
    default:
      return null;
  }
}

/** Why it did not work, where it was tried. */
export function AccessFailure({ error, words }: { error: unknown; words?: string }) {
  if (error === null || error === undefined) return null;
  const text = words ?? (error instanceof ProblemResponse ? wordsFor(error) : null);
  if (text === null) return <Failure error={error} />;
  const requestId = requestIdOf(error);
  return (
    <div className="notice bad" role="alert">
      {text}
      {requestId && (
        <small>
          {common("requestId")}: <code>{requestId}</code>
        </small>
      )}
    </div>
  );
}
