import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import {
  getTemplateVersion,
  publishTemplate,
  saveTemplateDraft,
  type Template,
  type TemplateVersion,
} from "../../../../../../server/features/templates/contract.ts";
import { callEndpoint, NoAnswer, ProblemResponse } from "../../../../../shared/api/client.ts";
import { createDraftStore } from "../../templates/draft-store.ts";
import { type Draft, draftOf } from "../../templates/model.ts";

/**
 * The document as the service keeps it: its fields are edited and saved like those of a template, and a version of it is
 * published when it is reviewed.
 * @param first the draft as the service has it now
 */
export function useDocumentDraft(template: Template, first: TemplateVersion) {
  const { id } = template;
  const isDraft = useRef(true);
  const hash = useRef(first.contentHash);
  const published = useRef<TemplateVersion | null>(null);
  const publishing = useRef<Promise<TemplateVersion> | null>(null);
  const key = useRef<string | null>(null);
  const [store] = useState(() =>
    createDraftStore({
      draft: overlay(template.name, first),
      contentHash: first.contentHash,
      async send({ name: _name, ...body }, ifMatch) {
        // Publishing took the draft away: the next change begins another one.
        const tag = isDraft.current && ifMatch !== null ? { ifMatch } : {};
        const saved = await callEndpoint(saveTemplateDraft, { params: { id }, body, ...tag });
        isDraft.current = true;
        hash.current = saved.contentHash;
        return saved;
      },
    }),
  );
  const snapshot = useSyncExternalStore(store.subscribe, store.snapshot);
  useEffect(() => () => void store.save(), [store]);
  const { draft } = snapshot;
  /** What the form and its checks know of the document: it is sent as what was published last. */
  const version = useMemo(
    (): TemplateVersion => ({
      ...first,
      version: null,
      content: { mode: "overlay", file: draft.file, items: [...draft.items] },
      roles: [...draft.roles],
    }),
    [first, draft.file, draft.items, draft.roles],
  );

  async function makeVersion(): Promise<TemplateVersion> {
    if (!(await store.save())) throw store.snapshot().error;
    if (published.current?.contentHash === hash.current) return published.current;
    try {
      key.current ??= crypto.randomUUID();
      const made = await callEndpoint(publishTemplate, { params: { id }, idempotencyKey: key.current });
      isDraft.current = false;
      key.current = null;
      published.current = made;
      return made;
    } catch (reason) {
      // Only what may have happened without an answer is asked for again under the same key.
      if (!(reason instanceof NoAnswer)) key.current = null;
      throw reason;
    }
  }

  return {
    store,
    ...snapshot,
    version,
    /** Saves and publishes what changed. @returns the version that an envelope is made of */
    publish(): Promise<TemplateVersion> {
      publishing.current ??= makeVersion().finally(() => {
        publishing.current = null;
      });
      return publishing.current;
    },
  };
}
export type DocumentDraft = ReturnType<typeof useDocumentDraft>;

function overlay(name: string, version: TemplateVersion): Draft {
  const draft = draftOf(name, version);
  if (draft === null) throw new Error("a document that is no template has an uploaded PDF");
  return draft;
}

/**
 * The draft, as the service has it at this moment. Where the last review has published it, it is begun anew: the pages are then the
 * upload again, without what publishing drew on them.
 */
export async function newestDraft(id: string, signal: AbortSignal): Promise<TemplateVersion> {
  try {
    return await callEndpoint(getTemplateVersion, { params: { id, version: "draft" }, signal });
  } catch (reason) {
    if (!(reason instanceof ProblemResponse && reason.problem.status === 404)) throw reason;
    const latest = await callEndpoint(getTemplateVersion, { params: { id, version: "latest" }, signal });
    const { content, roles, variables, settings } = latest;
    return await callEndpoint(saveTemplateDraft, { params: { id }, body: { content, roles, variables, settings } });
  }
}
