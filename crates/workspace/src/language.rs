//! What VS Code would call the language of a file, where no editor is there to ask.

use std::path::Path;

/// VS Code's language id; `plaintext` where the name tells nothing.
pub fn language_of(path: &Path) -> &'static str {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    by_name(&name).or_else(|| by_extension(extension)).unwrap_or("plaintext")
}

fn by_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "makefile" | "gnumakefile" => "makefile",
        "dockerfile" | "containerfile" => "dockerfile",
        "cmakelists.txt" => "cmake",
        "gemfile" | "rakefile" | "vagrantfile" | "podfile" => "ruby",
        "jenkinsfile" => "groovy",
        "tsconfig.json" | "jsconfig.json" | ".eslintrc.json" | "devcontainer.json" => "jsonc",
        ".bashrc" | ".bash_profile" | ".bash_aliases" | ".profile" | ".zshrc" | ".zprofile" | ".envrc"
        | "pkgbuild" => "shellscript",
        ".gitignore" | ".dockerignore" | ".npmignore" | ".ignore" => "ignore",
        ".gitattributes" | ".gitconfig" | ".gitmodules" | ".editorconfig" => "properties",
        "commit_editmsg" | "merge_msg" => "git-commit",
        "git-rebase-todo" => "git-rebase",
        name if name.starts_with("dockerfile.") => "dockerfile",
        _ => return None,
    })
}

fn by_extension(extension: &str) -> Option<&'static str> {
    Some(match extension {
        "bat" | "cmd" => "bat",
        "bib" => "bibtex",
        "c" | "i" => "c",
        "clj" | "cljs" | "cljc" | "edn" => "clojure",
        "coffee" | "cson" => "coffeescript",
        "cc" | "cpp" | "cxx" | "c++" | "h" | "hh" | "hpp" | "hxx" | "inl" | "ipp" => "cpp",
        "cs" | "csx" | "cake" => "csharp",
        "css" => "css",
        "cu" | "cuh" => "cuda-cpp",
        "dart" => "dart",
        "diff" | "patch" | "rej" => "diff",
        "dockerfile" => "dockerfile",
        "ex" | "exs" => "elixir",
        "erl" | "hrl" => "erlang",
        "fs" | "fsi" | "fsx" => "fsharp",
        "go" => "go",
        "gradle" | "groovy" => "groovy",
        "cshtml" | "razor" => "razor",
        "hbs" | "handlebars" => "handlebars",
        "hlsl" | "hlsli" | "fx" => "hlsl",
        "hs" => "haskell",
        "html" | "htm" | "xhtml" => "html",
        "ini" => "ini",
        "java" | "jav" => "java",
        "js" | "mjs" | "cjs" | "es6" => "javascript",
        "jsx" => "javascriptreact",
        "jl" => "julia",
        "json" | "webmanifest" | "geojson" | "har" => "json",
        "jsonc" | "code-workspace" => "jsonc",
        "jsonl" | "ndjson" => "jsonl",
        "kt" | "kts" => "kotlin",
        "tex" | "ltx" => "latex",
        "less" => "less",
        "log" => "log",
        "lua" => "lua",
        "mk" | "mak" => "makefile",
        "cmake" => "cmake",
        "md" | "markdown" | "mkd" | "mdown" => "markdown",
        "nix" => "nix",
        "m" => "objective-c",
        "mm" => "objective-cpp",
        "ml" | "mli" => "ocaml",
        "pl" | "pm" | "pod" | "psgi" => "perl",
        "php" | "phtml" => "php",
        "ps1" | "psm1" | "psd1" => "powershell",
        "properties" | "cfg" | "conf" | "env" => "properties",
        "proto" => "proto3",
        "pug" | "jade" => "jade",
        "py" | "pyi" | "pyw" | "rpy" => "python",
        "r" | "rprofile" => "r",
        "rst" => "restructuredtext",
        "rb" | "erb" | "gemspec" | "rake" => "ruby",
        "rs" => "rust",
        "scala" | "sc" | "sbt" => "scala",
        "scss" => "scss",
        "sass" => "sass",
        "shader" => "shaderlab",
        "sh" | "bash" | "zsh" | "ksh" | "ebuild" | "csh" | "fish" => "shellscript",
        "sql" | "dsql" => "sql",
        "styl" => "stylus",
        "svelte" => "svelte",
        "swift" => "swift",
        "tf" | "tfvars" => "terraform",
        "toml" => "toml",
        "ts" | "mts" | "cts" => "typescript",
        "tsx" => "typescriptreact",
        "vb" | "vbs" | "bas" => "vb",
        "vim" => "viml",
        "vue" => "vue",
        "xml" | "xsd" | "xsl" | "xslt" | "svg" | "csproj" | "plist" | "wsdl" => "xml",
        "yaml" | "yml" | "eyaml" => "yaml",
        "zig" => "zig",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_have_vs_codes_own_names() {
        let cases = [
            ("src/main.rs", "rust"),
            ("a/App.TSX", "typescriptreact"),
            ("run.sh", "shellscript"),
            ("Makefile", "makefile"),
            ("docker/Dockerfile.dev", "dockerfile"),
            ("tsconfig.json", "jsonc"),
            ("LICENSE", "plaintext"),
            ("", "plaintext"),
        ];
        for (path, language) in cases {
            assert_eq!(language_of(Path::new(path)), language, "{path}");
        }
    }
}
