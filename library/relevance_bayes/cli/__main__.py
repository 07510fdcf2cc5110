from relevance_bayes.cli import main

main()
