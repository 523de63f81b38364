import { useQuery } from "@tanstack/react-query";
import { getTemplateDocument, type OverlayItem } from "../../../../../../server/features/templates/contract.ts";
import { callEndpoint } from "../../../../../shared/api/client.ts";
import { useEditing } from "../editing.ts";
import { type Draft, partnerOf } from "../model.ts";
import { isLeftUnder, textsOn } from "./replacing.ts";

/**
 * Whether text of the document is still there under this white-out, or under the one that this text belongs to: read from the
 * document as the service makes it of the saved draft.
 */
export function useLeftUnder(draft: Draft, item: OverlayItem): boolean {
  const { template, saved } = useEditing();
  const partner = partnerOf(draft, item);
  const cover = item.type === "whiteout" ? item : partner?.type === "whiteout" ? partner : null;
  const texts = cover === null ? [] : textsOn(draft, cover);
  const { data } = useQuery({
    queryKey: [getTemplateDocument.id, template, "left-under", draft.file, cover, texts],
    queryFn: async ({ signal }) => {
      if (cover === null || template === null) return false;
      const { bytes } = await callEndpoint(getTemplateDocument, {
        params: { id: template, version: "draft" },
        query: { edited: "true" },
        signal,
      });
      const { openTextDocument } = await import("./text-document.ts");
      const document = await openTextDocument(bytes);
      try {
        return isLeftUnder(cover, (await document.read(cover.page)).runs, texts);
      } finally {
        document.close();
      }
    },
    enabled: saved && cover !== null && template !== null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
  return data ?? false;
}
