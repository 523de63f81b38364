import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { getTemplateDocument } from "../../../../../../server/features/templates/contract.ts";
import { callEndpoint } from "../../../../../shared/api/client.ts";
import type { TextDocument } from "./text-document.ts";

/**
 * The draft's document, opened to read its text; null while it is on its way or not wanted.
 * @param file that the service knows the draft to stand on
 */
export function useTextDocument(template: string, file: string, wanted: boolean): TextDocument | null {
  const [opened, setOpened] = useState<TextDocument | null>(null);
  // The workspace has asked for the same.
  const document = useQuery({
    queryKey: [getTemplateDocument.id, template, "draft", file],
    queryFn: ({ signal }) => callEndpoint(getTemplateDocument, { params: { id: template, version: "draft" }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: wanted,
  });
  const bytes = wanted ? document.data?.bytes : undefined;
  useEffect(() => {
    if (!bytes) return;
    let gone = false;
    let own: TextDocument | null = null;
    import("./text-document.ts")
      .then(({ openTextDocument }) => openTextDocument(bytes.slice()))
      .then((text) => {
        own = text;
        if (gone) text.close();
        else setOpened(text);
      })
      .catch((error: unknown) => console.error(error));
    return () => {
      gone = true;
      setOpened(null);
      own?.close();
    };
  }, [bytes]);
  return opened;
}
