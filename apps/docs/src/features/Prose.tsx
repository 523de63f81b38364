/**
 * A description: paragraphs, and code between backticks. Nothing else of Markdown is used in the
 * document, which is English in every language of the page.
 */
export function Prose({ text }: { text: string }) {
  return text.split(/\n{2,}/).map((paragraph) => (
    <p className="prose" lang="en" key={paragraph}>
      {paragraph.split(/(`[^`]+`)/).map((part, index) =>
        part.startsWith("`") && part.endsWith("`") && part.length > 2 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change places
          <code key={index}>{part.slice(1, -1)}</code>
        ) : (
          part
        ),
      )}
    </p>
  ));
}
