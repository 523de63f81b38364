import type { AcmeTrouble as Trouble } from "../../../../../../server/features/tls/acme-contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { When } from "../../../../../shared/ui/kit/When.tsx";
import { acmeTroubleWords } from "../../finding-words.ts";

const t = translator("console");

/** What went wrong last with the authority, and what to do about it. */
export function AcmeTrouble({ trouble, nextAt }: { trouble: Trouble; nextAt: string | null }) {
  const { message, action } = acmeTroubleWords(trouble);
  return (
    <div className="notice bad" role="alert">
      <strong>
        {t("acme.trouble")} (<When at={trouble.at} />)
      </strong>
      <p>{message}</p>
      {trouble.details.length > 0 && (
        <ul>
          {trouble.details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      )}
      <p>
        <b>{t("acme.whatToDo")}</b> {action}
      </p>
      {nextAt !== null && (
        <p className="soft">
          {t("acme.next")}: <When at={nextAt} />
        </p>
      )}
    </div>
  );
}
