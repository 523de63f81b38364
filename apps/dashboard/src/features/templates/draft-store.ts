import type { SaveTemplateDraft, TemplateVersion } from "../../../../../server/features/templates/contract.ts";
import { ProblemResponse } from "../../../../shared/api/client.ts";
import { type Draft, savedBody } from "./model.ts";

/** Edits of a draft with undo and redo, kept by saving a moment after each change, one save at a time. */

export type SaveStatus = "saved" | "unsaved" | "saving" | "conflict" | "failed";
export type Snapshot = {
  draft: Draft;
  status: SaveStatus;
  /** Why the last save failed. */
  error: unknown;
  canUndo: boolean;
  canRedo: boolean;
  /** The file that the server knows the draft to stand on. */
  savedFile: string;
};

type Send = (body: SaveTemplateDraft, ifMatch: string | null) => Promise<TemplateVersion>;
type Options = { draft: Draft; contentHash: string; send: Send; pauseMs?: number; now?: () => number };

/** Changes of one kind that follow each other sooner than this are one step. */
const togetherMs = 1500;

export type DraftStore = ReturnType<typeof createDraftStore>;

export function createDraftStore({
  draft: first,
  contentHash,
  send,
  pauseMs = 700,
  now = () => performance.now(),
}: Options) {
  let past: Draft[] = [];
  let present = first;
  let future: Draft[] = [];
  let kept = first;
  let tag: string | null = `"${contentHash}"`;
  let status: SaveStatus = "saved";
  let error: unknown = null;
  /** Changes of one kind in a row are one step. */
  let lastKind: string | null = null;
  let lastAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<boolean> | null = null;
  const listeners = new Set<() => void>();
  let snapshot = look();

  function look(): Snapshot {
    const { file: savedFile } = kept;
    return { draft: present, status, error, canUndo: past.length > 0, canRedo: future.length > 0, savedFile };
  }

  function tell(): void {
    snapshot = look();
    for (const listener of listeners) listener();
  }

  function changed(): void {
    if (status !== "saving") status = present === kept ? "saved" : "unsaved";
    clearTimeout(timer);
    timer = setTimeout(() => void save(), pauseMs);
    tell();
  }

  /** Resolves with whether what was there when it was called is now kept by the server. */
  async function save(): Promise<boolean> {
    clearTimeout(timer);
    while (running) await running;
    if (status === "conflict") return false;
    if (present === kept) return true;
    running = attempt(present).finally(() => {
      running = null;
    });
    return await running;
  }

  async function attempt(sent: Draft): Promise<boolean> {
    status = "saving";
    tell();
    try {
      const version = await send(savedBody(sent), tag);
      tag = `"${version.contentHash}"`;
      kept = sent;
      error = null;
      status = present === kept ? "saved" : "unsaved";
      if (present !== kept) timer = setTimeout(() => void save(), pauseMs);
      tell();
      return true;
    } catch (reason) {
      const lost = reason instanceof ProblemResponse && reason.problem.code === "precondition-failed";
      status = lost ? "conflict" : "failed";
      error = reason;
      tell();
      return false;
    }
  }

  return {
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    snapshot: () => snapshot,
    /**
     * Does nothing while a conflict waits for its decision.
     * @param kind changes of the same kind that follow each other without a pause are undone together
     */
    edit(change: (draft: Draft) => Draft, kind: string | null = null): void {
      if (status === "conflict") return;
      const next = change(present);
      if (next === present) return;
      const at = now();
      // Every step back to the beginning is kept: they share whatever did not change.
      if (kind === null || kind !== lastKind || at - lastAt > togetherMs) past = [...past, present];
      lastKind = kind;
      lastAt = at;
      future = [];
      present = next;
      changed();
    },
    /** Changes every step of the history: what is edited elsewhere is not undone here. */
    everywhere(change: (draft: Draft) => Draft): void {
      if (status === "conflict") return;
      const before = present;
      past = past.map(change);
      future = future.map(change);
      present = change(present);
      if (present !== before) changed();
    },
    undo(): void {
      const before = past.at(-1);
      if (!before || status === "conflict") return;
      past = past.slice(0, -1);
      future = [present, ...future];
      present = before;
      lastKind = null;
      changed();
    },
    redo(): void {
      const after = future[0];
      if (!after || status === "conflict") return;
      future = future.slice(1);
      past = [...past, present];
      present = after;
      lastKind = null;
      changed();
    },
    save,
    /** Saves over what somebody else saved in the meantime. */
    async overwrite(): Promise<boolean> {
      tag = null;
      status = "unsaved";
      return await save();
    },
    stop: () => clearTimeout(timer),
  };
}
