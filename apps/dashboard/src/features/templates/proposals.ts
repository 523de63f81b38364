import {
  type Box,
  type FieldProposals,
  isField,
  Role,
  templateLimits,
} from "../../../../../server/features/templates/contract.ts";
import type { Draft } from "./model.ts";

/** Fields that the document itself asks for, and what becomes of a draft that takes them. Pure. */

/** What somebody may call a role who only counts: the service's own word among them. */
const generic = /^(?:signer|person)( \d+)?$/i;

/**
 * The draft with the proposed fields. The first role that is proposed is the draft's first, and so on; a role without fields takes
 * the name that the document gives it. Fields that the draft has already, and what would be too many, are left out.
 * @param options `ownRoles`: the draft's roles stay as they are, and a party more than there are is the first of them
 */
export function takeProposals(
  draft: Draft,
  { data, roles: proposed }: FieldProposals,
  { ownRoles = false }: { ownRoles?: boolean } = {},
): Draft {
  const used = new Set(draft.items.filter(isField).map(({ role }) => role));
  const roles = [...draft.roles];
  const named = new Map<string, string>();
  for (const [index, name] of proposed.entries()) {
    const known = roles.find((role) => role.name === name);
    const before = roles[index];
    const own = ownRoles ? (before ?? roles[0]) : undefined;
    if (known) named.set(name, name);
    else if (own) named.set(name, own.name);
    else if (before && !proposed.includes(before.name) && (generic.test(name) || used.has(before.name))) {
      named.set(name, before.name);
    } else if (before && !proposed.includes(before.name)) {
      roles[index] = { ...before, name };
      named.set(name, name);
    } else if (roles.length < templateLimits.roles) {
      const order = Math.min(100, Math.max(0, ...roles.map((role) => role.order)) + 1);
      roles.push(Role.parse({ name, order }));
      named.set(name, name);
    }
  }
  const taken = new Set(draft.items.map(({ id }) => id));
  const room = Math.min(
    templateLimits.fields - draft.items.filter(isField).length,
    templateLimits.items - draft.items.length,
  );
  const added = data
    .flatMap(({ field }) => {
      const role = named.get(field.role);
      return role === undefined || taken.has(field.id) ? [] : [{ ...field, role }];
    })
    .slice(0, Math.max(0, room));
  return added.length === 0 ? draft : { ...draft, roles, items: [...draft.items, ...added] };
}

/** Whether fields of the draft take the place of those of the PDF's form, by the rule of publishing: by their id, or lying on one. */
export function takesForm(draft: Draft, { data }: FieldProposals): boolean {
  const form = data.filter(({ source }) => source === "form").map(({ field }) => field);
  return draft.items.some((item) => isField(item) && form.some((own) => own.id === item.id || half(own, item)));
}

/** Whether at least half of a box lies under the other one. */
function half(box: Box, over: Box): boolean {
  if (box.page !== over.page) return false;
  const width = Math.min(box.x + box.width, over.x + over.width) - Math.max(box.x, over.x);
  const height = Math.min(box.y + box.height, over.y + over.height) - Math.max(box.y, over.y);
  return width > 0 && height > 0 && width * height >= 0.5 * box.width * box.height;
}
