import type { Reader } from "../../kernel/db.ts";
import type { Actor } from "../../kernel/wire.ts";
import { organizationById } from "../identity/service.ts";
import type { EnvelopeRow } from "./tables.ts";

/** Who sends an envelope, and what every mail about it begins with. */

export function mailHead(envelope: EnvelopeRow): { organization: string; envelope: string; testMode: boolean } {
  return { organization: envelope.organization, envelope: envelope.id, testMode: envelope.test_mode === 1 };
}

/** Who created the envelope. */
export function actorOf(envelope: EnvelopeRow): Actor {
  return JSON.parse(envelope.created_by);
}

/** The sender as mails name them: the member who sent it and the organization, or that alone. */
export async function senderName(reader: Reader, envelope: EnvelopeRow): Promise<string> {
  const organization = await organizationById(reader, envelope.organization);
  const creator = actorOf(envelope);
  return creator.type === "user" && creator.name !== null
    ? `${creator.name} (${organization.name})`
    : organization.name;
}
