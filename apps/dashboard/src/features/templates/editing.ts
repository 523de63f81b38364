import { createContext, use } from "react";
import type { PageSize } from "../../../../shared/pdf/document.ts";
import type { Explained } from "./explain.ts";
import type { Draft } from "./model.ts";
import type { TextDocument } from "./text-edit/text-document.ts";

/** What the parts of the editor know of each other beside the draft. */

export type Edit = (change: (draft: Draft) => Draft, kind?: string | null) => void;

export type Editing = {
  /** Null where nothing is edited. */
  template: string | null;
  draft: Draft | null;
  /** The document's own text: whether it is being edited, and the document once it is open. */
  text: { isOn: boolean; document: TextDocument | null };
  /** What keeps the draft from being published. */
  problems: readonly Explained[];
  /** Told the sizes of the document's pages. */
  onPages: (pages: readonly PageSize[]) => void;
  edit: Edit;
  /** Whether the service has the draft as it is. */
  saved: boolean;
};

const nothing = () => {};
/** Of a published version, which nobody edits. */
const finished: Editing = {
  template: null,
  draft: null,
  text: { isOn: false, document: null },
  problems: [],
  onPages: nothing,
  edit: nothing,
  saved: false,
};
const EditingContext = createContext<Editing>(finished);

export const EditingProvider = EditingContext.Provider;
export const useEditing = () => use(EditingContext);
