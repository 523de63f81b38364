import { passwordLength } from "../../../../../server/features/identity/contract.ts";
import { translator } from "../../../../shared/i18n.ts";

/** From here on guessing is out of the question for a password of unrelated words. */
const long = 20;

/** How far a password has come: length is what counts, and the service refuses those that are known from breaches. */
export function PasswordStrength({ length }: { length: number }) {
  const t = translator("settings");
  const level = length < passwordLength.min ? "short" : length < long ? "good" : "strong";
  const words =
    level === "short"
      ? t("account.password.missing", { count: passwordLength.min - length })
      : t(`account.password.level.${level}`);
  return (
    <div className="password-strength" data-level={level}>
      <span className="password-bar" aria-hidden="true">
        <span style={{ inlineSize: `${Math.min(100, (length / long) * 100)}%` }} />
      </span>
      <span role="status">{length === 0 ? "" : words}</span>
    </div>
  );
}
