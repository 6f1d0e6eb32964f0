// The page's entry: puts the parts together.

document.title = "Linkspan";
