import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { type Language, languages, showLanguage } from "../../../../shared/languages.ts";

const common = translator("common");

/** The languages of the pages, each in its own words. */
export function LanguageChoice() {
  return (
    <fieldset className="language-choice">
      <legend className="spoken">{common("language")}</legend>
      {(Object.keys(languages) as Language[]).map((language) => (
        <button
          key={language}
          type="button"
          lang={language}
          aria-pressed={language === pageLanguage()}
          onClick={() => void showLanguage(language)}
        >
          {languages[language]}
        </button>
      ))}
    </fieldset>
  );
}
