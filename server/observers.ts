import { mailAboutEnd } from "./features/envelopes/end-mails.ts";
import type { AuditObserver } from "./features/envelopes/observers.ts";
import { informViewers } from "./features/viewers/observers.ts";

/** Who hears of the trail's entries, whatever the process is: the server, or a command that works on the data folder. */
export const auditObservers: readonly AuditObserver[] = [mailAboutEnd, informViewers];
