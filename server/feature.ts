import type { Activity } from "./features/backup/activity.ts";
import type { AuditObserver } from "./features/envelopes/service.ts";
import type { OutlivedCheck } from "./features/mail/service.ts";
import type { TlsKeeper } from "./features/tls/keeper.ts";
import type { Installation } from "./features/update/installation.ts";
import type { Maintenance } from "./features/update/maintenance.ts";
import type { Binding } from "./kernel/binding.ts";
import type { Ts } from "./kernel/clock.ts";
import type { Deps } from "./kernel/deps.ts";
import type { EndpointSpec } from "./kernel/endpoint.ts";
import type { Authenticators } from "./kernel/gates.ts";
import type { JobBinding } from "./kernel/job-handler.ts";
import type { JobRunner } from "./kernel/job-runner.ts";
import type { LogTail } from "./kernel/log-tail.ts";
import type { Schedule } from "./kernel/schedules.ts";
import type { Loopback } from "./loopback.ts";

/** What the process that serves holds besides Deps; a command has none of it. */
export type Host = {
  deps: Deps;
  startedAt: Ts;
  /** Where it answers, without a trailing slash. */
  url: string;
  /** What it shows to its clients. */
  tls: TlsKeeper;
  /** What it does about backups at this moment. */
  backups: Activity;
  maintenance: Maintenance;
  /** Null when it runs from no folder of releases, and cannot be updated. */
  installation: Installation | null;
  log: {
    tail: LogTail;
    /** A command or a file that has all lines; null when they only go to a terminal. */
    keptIn: string | null;
  };
  /** What keeps it from serving, whatever maintenance says; null when nothing does. */
  trouble: () => Promise<string | null>;
  /** Calls its own API, as a client would. */
  loopback: Pick<Loopback, "fetch">;
  /** Ends the process in order; null when nobody would start it again. */
  end: (() => void) | null;
};

/** The host once its job runner runs. */
export type RunningHost = Host & { jobs: JobRunner };

/** How a feature learns what others do, or answers what they ask, without either importing the other. */
export type Observers = {
  /** Hear of an envelope's new audit entries, in this order. */
  audit: readonly AuditObserver[];
  /** Say whether a mail that waits to be sent is still of use. */
  outlived: readonly OutlivedCheck[];
};

declare module "./kernel/deps.ts" {
  interface Deps {
    /** Loaded at the first call: a command that stores no audit entry and sends no mail loads no features for it. */
    observers: () => Promise<Observers>;
  }
}

/** A capability of the product, as its folder gives it to the server. `features.ts` lists them all. */
export type Feature = {
  /** Every operation that it declares; those with the credential `local` are served on the admin socket. */
  endpoints?: readonly EndpointSpec[];
  /** One for each endpoint. */
  handlers?: (host: RunningHost) => readonly Binding[];
  jobs?: (host: Host) => readonly JobBinding[];
  schedules?: readonly Schedule[];
  /** Authenticators for the credentials that it adds. */
  credentials?: (host: Host) => Partial<Authenticators>;
  observers?: Partial<Observers>;
};
