import type { OverlayItem } from "../../../../../../server/features/templates/contract.ts";
import { textFaults } from "../../../../../../server/features/templates/texts.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { problemsOf } from "../explain.ts";
import { changeItem, type Draft, type ItemPatch, isItem } from "../model.ts";
import { problemText } from "../problem-text.ts";

/** What would be wrong with an item after this change, in a sentence; null when the draft may be changed so. */
export function mistakeOf(draft: Draft, item: OverlayItem, patch: ItemPatch): string | null {
  const t = translator("templates");
  if (!isItem(item, patch)) return t("props.invalid");
  const [fault] = textFaults(patch);
  if (fault) return problemText(fault.message);
  const of = (one: Draft) =>
    problemsOf(one, [], { noPicture: "" }).filter(({ place }) => place.kind === "item" && place.item.id === item.id);
  const before = new Set(of(draft).map(({ member, detail }) => `${member} ${detail}`));
  const members = Object.keys(patch);
  const found = of(changeItem(draft, item.id, patch)).find(({ member, detail }) => {
    const [own = ""] = member.split("/", 1);
    return members.includes(own) && !before.has(`${member} ${detail}`);
  });
  return found ? problemText(found.detail) : null;
}
