import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Actor } from "../../kernel/wire.ts";
import type { OrgRole } from "../identity/contract.ts";
import { localeOfPerson, organizationById, personById } from "../identity/service.ts";
import { queueMail } from "../mail/service.ts";
import { listMembers } from "./members-store.ts";

/**
 * Tells every owner by mail that somebody became an owner or administrator, in the transaction of the change: it may have
 * been done at a browser that somebody left open. Members' changes are nothing to hear of.
 */
export async function noticePromotion(
  tx: Tx,
  deps: Deps,
  organization: string,
  person: { id: string; name: string; email: string; role: OrgRole },
  by: Pick<Actor, "name" | "email">,
): Promise<void> {
  if (person.role === "member") return;
  const { name } = await organizationById(tx, organization);
  const at = deps.clock.ts();
  for (const { id, role } of await listMembers(tx, organization)) {
    const owner = role === "owner" && id !== person.id ? await personById(tx, id) : undefined;
    if (!owner) continue;
    await queueMail(tx, deps, {
      cause: `member_promoted:${organization}:${person.id}:${at}:${id}`,
      organization: null,
      envelope: null,
      testMode: false,
      to: { email: owner.email, name: owner.name },
      locale: await localeOfPerson(tx, owner),
      content: {
        kind: "member_promoted",
        organizationName: name,
        name: person.name,
        email: person.email,
        role: person.role,
        by: by.name ?? by.email ?? "",
        at,
      },
    });
  }
}
