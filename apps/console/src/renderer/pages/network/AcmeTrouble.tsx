import type { AcmeTrouble as Trouble } from "../../../../../../server/features/tls/acme/contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { When } from "../../../../../shared/ui/kit/When.tsx";
import { acmeTroubleWords } from "../../finding-words.ts";
import { Said, Words } from "../../Said.tsx";

const t = translator("console");

/** What went wrong last with the authority, and what to do about it. */
export function AcmeTrouble({ trouble, nextAt }: { trouble: Trouble; nextAt: string | null }) {
  const { message, action } = acmeTroubleWords(trouble);
  return (
    <div className="notice bad" role="alert">
      <strong>
        {t("acme.trouble")} (<When at={trouble.at} />)
      </strong>
      <p>
        <Words>{message}</Words>
      </p>
      {trouble.details.length > 0 && (
        <ul>
          {trouble.details.map((detail) => (
            <li key={detail}>
              <Said>{detail}</Said>
            </li>
          ))}
        </ul>
      )}
      <p>
        <b>{t("acme.whatToDo")}</b> <Words>{action}</Words>
      </p>
      {nextAt !== null && (
        <p className="soft">
          {t("acme.next")}: <When at={nextAt} />
        </p>
      )}
    </div>
  );
}
