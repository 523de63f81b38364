import type { SigningView } from "../../../../../server/features/signing/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Check, Clock, Cross } from "../../../../shared/ui/icons.tsx";

/** Everybody who signs, and how far they are. */
export function Parties({ view }: { view: SigningView }) {
  const t = translator("sign");
  return (
    <ul className="parties" aria-label={t("parties.label")}>
      {[...view.parties]
        .sort((a, b) => a.order - b.order)
        .map((party) => {
          const done = party.status === "completed";
          const ended = party.status === "declined" || party.status === "canceled";
          return (
            <li key={`${party.role} ${party.name}`} data-done={done || undefined}>
              {done ? <Check size={18} /> : ended ? <Cross size={18} /> : <Clock size={18} />}
              <span>
                <b dir="auto">{party.name}</b> <span className="soft">{party.role}</span>
              </span>
              <span className="soft">{t(`parties.${party.status}`)}</span>
            </li>
          );
        })}
    </ul>
  );
}
