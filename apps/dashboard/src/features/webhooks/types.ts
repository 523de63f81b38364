import { EventType } from "../../../../../server/features/envelopes/audit-contract.ts";
import { eventSchemas, type SentEventType } from "../../../../../server/features/webhooks/contract.ts";

/** Every type of event that is sent, in the order of an envelope's life. */
export const sentTypes = EventType.options.filter((type): type is SentEventType => Object.hasOwn(eventSchemas, type));
